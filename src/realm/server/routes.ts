import type { Handler } from './call.js';
import { checkWallets, getMember, getWeb3 } from './calls/get-member.js';
import { changeBalance, transfer } from './calls/write-answers.js';

export const PREFIX = '/api/v4';

export type Route = {
  readonly operationId: string;
  readonly method: 'GET' | 'PATCH';
  /** Below the prefix, parameters in braces as the OpenAPI document writes them. */
  readonly path: string;
  readonly handle: Handler;
};

/** The whole interface. The literal `includes` wins over a member id because the router prefers literals. */
export const ROUTES: readonly Route[] = [
  {
    operationId: 'getMember',
    method: 'GET',
    path: '/realms/{realmID}/members/{memberID}',
    handle: getMember,
  },
  {
    operationId: 'getWeb3',
    method: 'GET',
    path: '/realms/{realmID}/web3/members/{memberID}',
    handle: getWeb3,
  },
  {
    operationId: 'checkWallets',
    method: 'GET',
    path: '/realms/{realmID}/members/includes',
    handle: checkWallets,
  },
  {
    operationId: 'changeBalance',
    method: 'PATCH',
    path: '/realms/{realmID}/members/{memberID}/tokenBalance',
    handle: changeBalance,
  },
  {
    operationId: 'transfer',
    method: 'PATCH',
    path: '/realms/{realmID}/members/{memberID}/transfer',
    handle: transfer,
  },
];
