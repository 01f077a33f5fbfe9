import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useChange } from '../live/resource.js';
import { Button, TextField } from './fields.js';
import { Failure } from './panel.js';

type ConfirmProps = {
  readonly title: string;
  readonly verb: string;
  readonly danger?: boolean;
  /** `must`: the API requires a reason; `may`: a reason is optional and kept; `none`: it takes none. */
  readonly reason: 'must' | 'may' | 'none';
  /** False where there is nothing to act on. */
  readonly ready?: boolean;
  readonly act: (said: { readonly reason?: string }) => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/**
 * A dialog that says what will happen, takes the reason and acts once. After a refusal it stays open with the reason.
 */
export function Confirm(props: ConfirmProps) {
  const { title, verb, danger = false, reason, ready = true, act, onClose, children } = props;
  const [text, setText] = useState('');
  const { busy, failure, attempt } = useChange();
  const submit = (event: Event) => {
    event.preventDefault();
    const reason = text.trim();
    // `failure` shows an error.
    void attempt(() => act(reason === '' ? {} : { reason }).then(onClose));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} class="stack">
        {children}
        {reason !== 'none' && (
          <TextField
            label={
              <>
                Reason{' '}
                <span class="soft">
                  {reason === 'may' ? '(optional, goes into the audit)' : '(goes into the audit)'}
                </span>
              </>
            }
            maxLength={300}
            required={reason === 'must'}
            value={text}
            onText={setText}
          />
        )}
        <Failure failure={failure} />
        <div class="buttons">
          <Button name="Go back" disabled={busy} onPress={onClose} />
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy || !ready}>
            {busy ? 'Working…' : verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** The browser's modal dialog. It traps the focus, closes on Escape and returns the focus. */
function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id} class="dialog-title">
        {title}
      </h2>
      {children}
    </dialog>
  );
}
