import type { Route } from '../http/route.ts'
import { readPublicKey } from './public-key.ts'

/** The account's SSH keys, which are beyond the interface. New instances get all of them. */
export const sshKeyRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/ssh/',
    permission: 'user_read',
    answer: ({ world }) => ({ success: true, ssh_keys: world.account.sshKeys }),
  },
  {
    method: 'POST',
    path: '/ssh/',
    permission: 'user_write',
    answer: ({ world, body }) => ({ success: true, key: world.account.addSshKey(readPublicKey(body())) }),
  },
]
