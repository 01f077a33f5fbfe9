import { useRef, useState } from 'preact/hooks';
import { bytesWords } from '../../../../words/spelling.js';
import type { UploadReply, UploadsReply } from '../../../api/index.js';
import { change } from '../../live/call.js';
import { useChange, useResource } from '../../live/resource.js';
import { Button } from '../../parts/fields.js';
import { Time } from '../../parts/marks.js';
import { Failure, Panel } from '../../parts/panel.js';
import { announce } from '../../shell/page.js';

type OwnUploadsProps = { readonly onFile: (file: UploadReply) => void };

/** The person's own uploads, perhaps from a closed tab: each can be planned or removed. */
export function OwnUploads({ onFile }: OwnUploadsProps) {
  const { value, failure, reload } = useResource<UploadsReply>('/api/uploads');
  const throwing = useChange();
  const uploads = value?.uploads ?? [];
  const throwAway = (files: readonly UploadReply[]) =>
    throwing.attempt(async () => {
      for (const { upload } of files)
        await change(`/api/uploads/${encodeURIComponent(upload)}`, {}, 'DELETE');
      announce('Thrown away');
      reload();
    });
  if (uploads.length === 0) return <Failure failure={failure} />;
  return (
    <Panel
      title="Uploaded and not started"
      flush
      aside={
        <Button
          name="Throw all away"
          look="quiet"
          disabled={throwing.busy}
          onPress={() => throwAway(uploads)}
        />
      }
    >
      <Failure failure={throwing.failure ?? failure} />
      <ul class="files own-uploads">
        {uploads.map((file) => (
          <li key={file.upload}>
            <span class="wrap">{file.name}</span>
            <span class="soft small n">
              {bytesWords(file.bytes)}, <Time at={file.receivedAt} />
            </span>
            <span class="actions">
              <Button name="Go on" label={`Go on with ${file.name}`} onPress={() => onFile(file)} />
              <Button
                name="Throw away"
                label={`Throw away ${file.name}`}
                look="quiet"
                disabled={throwing.busy}
                onPress={() => throwAway([file])}
              />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** A drop zone with a plain file field, for people who cannot drag. */
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
        // The button has the same effect and shows the focus.
        tabIndex={-1}
        accept=".csv,text/csv"
        onChange={(event) => take(event.currentTarget.files)}
      />
      <Button name="Choose a file" look="primary" onPress={() => field.current?.click()} />
    </section>
  );
}
