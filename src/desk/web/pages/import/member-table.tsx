import { useId, useRef, useState } from 'preact/hooks';
import type { UploadReply } from '../../../api/index.js';
import { asFailure, type CallFailed, upload } from '../../live/call.js';
import { Button } from '../../parts/fields.js';
import { Failure } from '../../parts/panel.js';

type MemberTableProps = {
  readonly table: UploadReply | null;
  /** The hash of the table that the plan has read. */
  readonly sha256: string | null;
  readonly busy: boolean;
  readonly onTable: (table: UploadReply | null) => void;
};

/** The table beside the file. It turns the file's wallets or handles into members. */
export function MemberTable({ table, sha256, busy, onTable }: MemberTableProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<CallFailed | null>(null);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    setSending(true);
    setFailure(null);
    try {
      onTable(await upload(file, () => {}, new AbortController().signal));
    } catch (error) {
      setFailure(asFailure(error));
    }
    setSending(false);
  };
  return (
    <div class="member-table">
      <label for={id}>Table of members (wallets or handles)</label>
      <input
        id={id}
        ref={field}
        class="unseen"
        type="file"
        // The button has the same effect and shows the focus.
        tabIndex={-1}
        accept=".csv,text/csv"
        onChange={(event) => {
          void take(event.currentTarget.files?.[0]);
          // Cleared, so that choosing the same file again after mending it counts as a choice.
          event.currentTarget.value = '';
        }}
      />
      <span class="actions">
        {table !== null && (
          <>
            <b class="wrap">{table.name}</b>
            {sha256 !== null && <span class="mono small wrap">SHA-256 {sha256}</span>}
            <Button name="Without a table" look="quiet" disabled={busy} onPress={() => onTable(null)} />
          </>
        )}
        <Button
          name={sending ? 'Uploading…' : table === null ? 'Choose a table' : 'Another table'}
          look="quiet"
          disabled={busy || sending}
          onPress={() => field.current?.click()}
        />
      </span>
      <Failure failure={failure} />
    </div>
  );
}
