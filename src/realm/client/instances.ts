import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Got, got, type RequestFunction } from 'got';
import type { RealmProfile } from '../../core/profile.js';
import type { Agents } from './agents.js';

/** More than any answer of the interface needs; what is larger is some other server's page. */
export const ANSWER_BYTES_MAX = 256 * 1024;

export type Instances = { readonly read: Got; readonly check: Got; readonly write: Got };

/**
 * Frozen got instances. Nothing in them repeats a request: writes must never be repeated here,
 * and reads are repeated one level up, where each try is paced. The instances are used as streams, which
 * got never retries, and which cost a third less than its promises.
 */
export function createInstances(profile: RealmProfile, agents: Agents, userAgent: string): Instances {
  const { connectMs, tlsMs, responseMs, totalMs } = profile.timeouts;
  const base = got.extend({
    agent: { http: agents.http, https: agents.https },
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [], enforceRetryRules: true },
    // A redirected PATCH is a second PATCH, and a redirected read carries the key to another place.
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    strictContentLength: true,
    timeout: {
      lookup: connectMs,
      connect: connectMs,
      secureConnect: tlsMs,
      response: responseMs,
      request: totalMs,
    },
    request: requestWithFew,
    headers: { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' },
  });
  return {
    read: base.extend({ method: 'GET' }),
    // Apart from `read`, because a stream that may have a body waits for one.
    check: base.extend({
      method: profile.wallets.method,
      allowGetBody: true,
      headers: { 'content-type': 'application/json' },
    }),
    write: base.extend({ method: 'PATCH', headers: { 'content-type': 'application/json' } }),
  };
}

/** got hands over some forty options, most of them undefined, and Node copies them for every request. */
const requestWithFew: RequestFunction = (url, options) => {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return url.protocol === 'https:' ? httpsRequest(url, given) : httpRequest(url, given);
};
