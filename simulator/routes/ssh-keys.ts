import type { Routes } from '../http/route.ts'
import { readPublicKey } from './public-key.ts'

/** The account's SSH keys, which are beyond the interface. New instances get all of them. */
export const sshKeyRoutes: Routes = {
  'GET /ssh/': {
    permission: 'user_read',
    answer: ({ world }) => ({ success: true, ssh_keys: world.account.sshKeys }),
  },
  'POST /ssh/': {
    permission: 'user_write',
    answer: ({ world, body }) => ({ success: true, key: world.account.addSshKey(readPublicKey(body())) }),
  },
}
