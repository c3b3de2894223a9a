import type { Problem } from '../../../electron/contract/problem.ts'

/** Whether a login with two factors may solve a problem (sections 5 and 7). */
export function mayNeedLogin({ code }: Problem): boolean {
  return code === 'auth_error' || code === 'unauthorized' || code === 'forbidden'
}
