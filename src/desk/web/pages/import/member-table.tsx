import { useId, useRef, useState } from 'preact/hooks';
import type { UploadReply } from '../../../api/index.js';
import { asFailure, type CallFailed, upload } from '../../live/call.js';
import { Button } from '../../parts/fields.js';
import { Failure } from '../../parts/panel.js';

type MemberTableProps = {
  readonly table: UploadReply | null;
  /** As the plan has read it. */
  readonly sha256: string | null;
  readonly busy: boolean;
  readonly onTable: (table: UploadReply | null) => void;
};

/** Beside the file: the table that turns its wallets or handles into members. */
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
        // The button does the same, and can be seen to have the focus.
        tabIndex={-1}
        accept=".csv,text/csv"
        onChange={(event) => {
          void take(event.currentTarget.files?.[0]);
          // The same file again, mended meanwhile, is a choice as well.
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
