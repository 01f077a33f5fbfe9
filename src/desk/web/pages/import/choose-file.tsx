import { useRef, useState } from 'preact/hooks';

/** A drop zone that is also a plain file field: whoever cannot drag uses the button. */
export function ChooseFile({ onFile }: { readonly onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) onFile(file);
  };
  return (
    <section
      class={over ? 'drop over' : 'drop'}
      aria-label="CSV file"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <p class="drop-title">Drop a CSV here</p>
      <p class="soft">
        UTF-8 with a header line: <code>member</code>, <code>tokens</code>, and if you like{' '}
        <code>recipient</code>, <code>op</code>, <code>reference</code>, <code>reason</code>.
      </p>
      <label class="unseen" for="csv">
        CSV file
      </label>
      <input
        id="csv"
        ref={field}
        class="unseen"
        type="file"
        accept=".csv,text/csv"
        onChange={(event) => take(event.currentTarget.files)}
      />
      <button type="button" class="primary" onClick={() => field.current?.click()}>
        Choose a file
      </button>
    </section>
  );
}
