import { useState } from 'preact/hooks';
import type { FindReply } from '../../api/index.js';
import { asFailure, read } from '../live/call.js';
import { Button } from '../parts/fields.js';
import { go, Link, placeOf } from './address.js';
import { announce } from './page.js';

/** One box for members, batches and orders. A single hit is opened at once; several are offered. */
export function Search() {
  const [text, setText] = useState('');
  const [found, setFound] = useState<FindReply['found'] | null>(null);
  const [problem, setProblem] = useState('');
  const close = () => {
    setFound(null);
    setProblem('');
  };
  const search = async (event: Event) => {
    event.preventDefault();
    const query = text.trim();
    if (query === '') return;
    close();
    try {
      const reply = await read<FindReply>(`/api/find?q=${encodeURIComponent(query)}`);
      const [first] = reply.found;
      if (first !== undefined && reply.found.length === 1) {
        setText('');
        go(placeOf(first.kind, first.id));
        return;
      }
      setFound(reply.found);
      announce(first === undefined ? `Nothing found for ${query}` : `${reply.found.length} places found`);
    } catch (error) {
      setProblem(asFailure(error).message);
    }
  };
  return (
    <search class="search">
      <form
        class="search"
        onSubmit={search}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
        }}
      >
        <label class="unseen" for="find">
          Find a member, batch or order
        </label>
        <input
          id="find"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Find member, batch or order"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="quiet">
          Find
        </button>
      </form>
      {(found !== null || problem !== '') && (
        <div class="found">
          {problem !== '' && <p>{problem}</p>}
          {found?.length === 0 && (
            <p>
              Nothing by this name. Members and orders are found by their whole id, batches by its beginning.
            </p>
          )}
          <ul>
            {found?.map((place) => (
              <li key={`${place.kind} ${place.id}`}>
                <Link to={placeOf(place.kind, place.id)} class="found-place" onFollow={close}>
                  <span class="soft">{place.kind}</span> <span class="mono">{place.id}</span>{' '}
                  <span class="soft small">{place.note}</span>
                </Link>
              </li>
            ))}
          </ul>
          <Button name="Close" look="quiet small" onPress={close} />
        </div>
      )}
    </search>
  );
}
