import type { Problem } from '#contract/problem.ts'

/** Whether a login with two factors may solve a problem (sections 5 and 7). */
export function mayNeedLogin({ code }: Problem): boolean {
  return ['tfa_needed', 'auth_error', 'unauthorized', 'forbidden'].includes(code)
}
