import { BerthError, type Problem } from '../../../contract/problem.ts'
import { problemOf } from '../../problems.ts'

/** What a refusal says of the form by which an account is connected: the field it is about, or what helps there. */
const there: Readonly<Record<string, Pick<Problem, 'field' | 'advice'>>> = {
  bad_url: { field: 'baseUrl' },
  insecure_url: { field: 'baseUrl' },
  url_has_credentials: { field: 'baseUrl' },
  bad_key: { field: 'key' },
  // No account has settings yet in which it could be replaced.
  unauthorized: { advice: 'Copy the key again, whole, or make another in the service’s web console.' },
}

/** Waits for an account to be connected; what it is refused for is told where it was typed. */
export async function asTyped<Answer>(connecting: Promise<Answer>): Promise<Answer> {
  try {
    return await connecting
  } catch (error) {
    const problem = problemOf(error)
    const further = there[problem.code]
    throw further ? new BerthError({ ...problem, ...further }) : error
  }
}
