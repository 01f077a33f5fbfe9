import { useRef, useState } from 'preact/hooks';
import { ROLES, type Role } from '../../../core/people.js';
import { revokedWords } from '../../../words/people.js';
import type { NewTokenReply, RevokedReply, TokensReply } from '../../api/index.js';
import { change, useMe } from '../live/call.js';
import { useChange, useFreshResource } from '../live/resource.js';
import { Confirm } from '../parts/confirm.js';
import { Button, Check, TextField } from '../parts/fields.js';
import { Time } from '../parts/marks.js';
import { Empty, Failure, Notice, Panel, Pending, Table } from '../parts/panel.js';
import { BatchLink, pathWith } from '../shell/address.js';
import { announce, Page } from '../shell/page.js';

type Token = TokensReply['tokens'][number];

/** The page of desk tokens. An admin adds and revokes them. */
export function PeoplePage() {
  const isAdmin = useMe().roles.includes('admin');
  const list = useFreshResource<TokensReply>(isAdmin ? '/api/tokens' : null);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const [revoked, setRevoked] = useState<RevokedReply | null>(null);
  const tokens = list.value?.tokens ?? null;
  const left = revoked === null ? [] : revokedWords(revoked);
  return (
    <Page title="People" lead="Who may use the desk, and act under their own name on the command line.">
      {!isAdmin && (
        <Notice tone="warn">Tokens are given and taken by an admin, which your token is not.</Notice>
      )}
      {isAdmin && <Pending of={list} rows={6} />}
      {left.length > 0 && (
        <Notice tone="warn">
          {left.map(({ batch, words }) => (
            <p key={`${batch} ${words}`}>
              {batch !== null && (
                <>
                  Batch <BatchLink batch={batch} />,{' '}
                </>
              )}
              {words}
            </p>
          ))}
        </Notice>
      )}
      {tokens !== null && (
        <>
          <AddToken onDone={list.reload} />
          <Panel title="Tokens" flush>
            <TokenList tokens={tokens} onRevoke={setRevoking} />
          </Panel>
          {revoking !== null && (
            <Revoke
              token={revoking}
              tokens={tokens}
              onDone={(now) => {
                setRevoked(now);
                list.reload();
              }}
              onClose={() => setRevoking(null)}
            />
          )}
        </>
      )}
    </Page>
  );
}

function TokenList({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  if (tokens.length === 0)
    return (
      <Empty title="Nobody has a token.">
        The desk opens on this machine only, with the link that it prints.
      </Empty>
    );
  return (
    <Table label="Who has a token" heads={['Name', 'Roles', 'Made', ['Actions', 'unseen']]}>
      {tokens.map((token) => (
        <tr key={token.name}>
          <td class="name">{token.name}</td>
          <td>{token.roles.join(', ')}</td>
          <td class="what">
            <Time at={token.createdAt} />, by {token.createdBy}
          </td>
          <td>
            <Button
              name="Revoke"
              look="danger-quiet"
              label={`Revoke ${token.name}`}
              onPress={() => onRevoke(token)}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const DOES: Readonly<Record<Role, string>> = {
  viewer: 'viewer: looks',
  operator: 'operator: prepares and steers',
  approver: 'approver: approves what others prepared or asked for',
  admin: 'admin: gives and takes tokens',
};

function AddToken({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>([]);
  const [made, setMade] = useState<NewTokenReply | null>(null);
  const { busy, failure, attempt } = useChange();
  const add = (event: Event) => {
    event.preventDefault();
    // `failure` shows an error.
    void attempt(async () => {
      setMade(await change<NewTokenReply>('/api/tokens', { name: name.trim(), roles }));
      setName('');
      setRoles([]);
      onDone();
    });
  };
  return (
    <Panel title="Add a token">
      <form class="stack" onSubmit={add}>
        <div class="filters flat">
          <TextField label="Name" required maxLength={64} autocomplete="off" value={name} onText={setName} />
          {ROLES.map((role) => (
            <Check
              key={role}
              label={DOES[role]}
              on={roles.includes(role)}
              onChange={(on) => setRoles(ROLES.filter((one) => (one === role ? on : roles.includes(one))))}
            />
          ))}
          <button type="submit" class="primary" disabled={busy || name.trim() === '' || roles.length === 0}>
            Add
          </button>
        </div>
        <Failure failure={failure} />
        {made !== null && <Made key={made.token} made={made} onClose={() => setMade(null)} />}
      </form>
    </Panel>
  );
}

/**
 * Shows a new token once. The store keeps only its hash, so that a person who closes this without a copy has to make
 * another one.
 */
function Made({ made: { name, token }, onClose }: { made: NewTokenReply; onClose: () => void }) {
  const text = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(token);
      announce('Copied.');
    } catch {
      // A page without https cannot write to the clipboard, so that it selects the text to be copied by hand.
      if (text.current !== null) getSelection()?.selectAllChildren(text.current);
      announce('Selected; copy it by hand.');
    }
  };
  return (
    <Notice tone="good">
      <p>
        The token of <b>{name}</b>, shown only once. Hand it over where no other person can read it:
      </p>
      <p>
        <code ref={text} class="wrap">
          {token}
        </code>
      </p>
      <p class="actions">
        <Button name="Copy" onPress={copy} />
        <Button name="Done" look="quiet" onPress={onClose} />
      </p>
    </Notice>
  );
}

type RevokeProps = {
  readonly token: Token;
  readonly tokens: readonly Token[];
  readonly onDone: (revoked: RevokedReply) => void;
  readonly onClose: () => void;
};

function Revoke({ token: { name, roles }, tokens, onDone, onClose }: RevokeProps) {
  const isOwn = useMe().name === name;
  // Fixed when the dialog opens, so that its words and its button do not change under the person's hand.
  const [isLast] = useState(
    roles.includes('admin') && !tokens.some((one) => one.name !== name && one.roles.includes('admin')),
  );
  return (
    <Confirm
      title={`Revoke the token of ${name}?`}
      verb={isLast ? 'Revoke the last admin' : isOwn ? 'Revoke my own token' : 'Revoke'}
      danger
      reason="may"
      act={async (said) => {
        const path = pathWith(`/api/tokens/${encodeURIComponent(name)}`, {
          lastAdmin: isLast ? 'true' : null,
        });
        onDone(await change<RevokedReply>(path, said, 'DELETE'));
        announce(`Revoked the token of ${name}.`);
      }}
      onClose={onClose}
    >
      <p>
        {name} can no longer act: open pages of theirs are signed out. What they approved and has not begun
        waits for an approval again; what has begun goes on.
      </p>
      {isOwn && (
        <p>
          <b>This is your own token: you are signed out, and cannot come back with it.</b>
        </p>
      )}
      {isLast && (
        <p>
          <b>There is no other admin: after this no person can add or revoke tokens on the desk,</b> only with{' '}
          <code>almoner desk token add</code> on a machine that reaches the store.
        </p>
      )}
    </Confirm>
  );
}
