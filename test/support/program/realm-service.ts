import { createRealmService, type RealmServiceOptions } from '../../../src/realm/server/service.js';
import { type BareReply, type BareRequest, bareHttp } from '../bare-http.js';
import type { TestRedis } from '../redis-server.js';
import { type AuditedAdmin, auditedAdmin } from './realm-records.js';

/** A realm of its own on a real service, with an API key and a plain HTTP client that sends it. */
export type TestRealm = {
  readonly url: string;
  readonly realmId: string;
  readonly key: string;
  readonly admin: AuditedAdmin;
  /** `path` is below /api/v4/realms/{realmId}. */
  call(path: string, request?: BareRequest): Promise<BareReply>;
  change(member: string, tokens: unknown, headers?: Record<string, string>): Promise<BareReply>;
  transfer(member: string, body: unknown, headers?: Record<string, string>): Promise<BareReply>;
  close(): Promise<void>;
};

let count = 0;

export async function startRealm(
  redis: TestRedis,
  options: Partial<Omit<RealmServiceOptions, 'redis'>> & {
    readonly realmId?: string;
    readonly port?: number;
    /** The API key; by default a new one. */
    readonly key?: string;
  } = {},
): Promise<TestRealm> {
  const { realmId = `realm-${process.pid}-${++count}`, port = 0, key: given, ...rest } = options;
  const client = redis.client();
  const admin = auditedAdmin(client);
  const service = createRealmService({ redis: client, ...rest });
  const { url } = await service.listen({ host: '127.0.0.1', port });
  if (given !== undefined) await admin.adoptKey(realmId, given);
  const key = given ?? (await admin.issueKey(realmId));
  const call: TestRealm['call'] = (path, request = {}) =>
    bareHttp(`${url}/api/v4/realms/${realmId}${path}`, {
      ...request,
      headers: { authorization: `Bearer ${key}`, ...request.headers },
    });
  return {
    url,
    realmId,
    key,
    admin,
    call,
    change: (member, tokens, headers = {}) =>
      call(`/members/${member}/tokenBalance`, { method: 'PATCH', body: { tokens }, headers }),
    transfer: (member, body, headers = {}) =>
      call(`/members/${member}/transfer`, { method: 'PATCH', body, headers }),
    async close() {
      await service.close();
      client.disconnect();
    },
  };
}
