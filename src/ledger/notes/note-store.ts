import type { z } from 'zod';
import type { RealmLedger } from '../realm-ledger.js';
import type { ScriptClient } from '../script-client.js';

/**
 * Notes that other folders keep beside the ledger: one hash, a name and a note in each field. The caller says what a
 * note is; the ledger knows where it is kept, and that the store may be away.
 */
export class NoteStore<Note> {
  constructor(
    private readonly scripts: ScriptClient,
    private readonly key: string,
    private readonly codec: Codec<Note>,
  ) {}

  async all(): Promise<Map<string, Note>> {
    const found = await this.ask((redis) => redis.hgetall(this.key));
    return new Map(Object.entries(found).map(([name, text]) => [name, this.codec.decode(text)]));
  }

  async get(name: string): Promise<Note | null> {
    const text = await this.ask((redis) => redis.hget(this.key, name));
    return text === null ? null : this.codec.decode(text);
  }

  async put(name: string, note: Note): Promise<void> {
    await this.ask((redis) => redis.hset(this.key, name, this.codec.encode(note)));
  }

  async forget(name: string): Promise<void> {
    await this.ask((redis) => redis.hdel(this.key, name));
  }

  /** False where the name is taken. Asked once: after a lost answer it would meet its own note. */
  async add(name: string, note: Note): Promise<boolean> {
    return (await this.scripts.redis.hsetnx(this.key, name, this.codec.encode(note))) === 1;
  }

  /** False where there was none. Asked once, as above. */
  async remove(name: string): Promise<boolean> {
    return (await this.scripts.redis.hdel(this.key, name)) === 1;
  }

  /**
   * Changes a note beside others who may do so at the same moment. `change` sees the note as it stands and gives the
   * very same one back to leave it, or null to remove it; it is asked again where somebody was quicker, so that
   * nobody's change undoes another's.
   */
  async change(
    name: string,
    change: (known: Note | null) => Note | null,
  ): Promise<{ readonly before: Note | null; readonly after: Note | null }> {
    for (;;) {
      const known = await this.ask((redis) => redis.hget(this.key, name));
      const before = known === null ? null : this.codec.decode(known);
      const after = change(before);
      const wanted = after === null ? null : this.codec.encode(after);
      if (after === before || wanted === known) return { before, after };
      const done = await this.ask(() =>
        this.scripts.once('replace-note', [this.key], [name, known ?? '', wanted ?? '']),
      );
      if (done === 1) return { before, after };
    }
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.ask(`notes in ${this.key}`, question);
  }
}

type Codec<Note> = { readonly encode: (note: Note) => string; readonly decode: (text: string) => Note };

function json<Note>(schema: z.ZodType<Note>): Codec<Note> {
  return { encode: JSON.stringify, decode: (text) => schema.parse(JSON.parse(text)) };
}

const PLAIN: Codec<string> = { encode: (text) => text, decode: (text) => text };

/** The desk's notes are of the store as a whole: who may use it, and what was told of which batch. */
export function deskNotes<Note>(scripts: ScriptClient, what: 'tokens' | 'told', schema: z.ZodType<Note>) {
  return new NoteStore(scripts, `almoner:desk:${what}`, json(schema));
}

/** What was said of a file's columns, under its header; for this realm alone. */
export function columnNotes<Note>({ scripts, keyPrefix }: RealmLedger, schema: z.ZodType<Note>) {
  return new NoteStore(scripts, `${keyPrefix}:columns`, json(schema));
}

/** The chat message that stands for each batch. */
export function deskMessages(scripts: ScriptClient): NoteStore<string> {
  return new NoteStore(scripts, 'almoner:desk:messages', PLAIN);
}

/** A realm's rules: their runs, which of them run by themselves, and what became of their times: see rules/approvals. */
export function ruleNotes<Note>(
  { scripts, keyPrefix }: RealmLedger,
  what: 'runs' | 'schedules' | 'last' | 'waiting' | 'texts' | 'members' | 'rounds',
  schema: z.ZodType<Note>,
) {
  return new NoteStore(scripts, `${keyPrefix}:rules:${what}`, json(schema));
}
