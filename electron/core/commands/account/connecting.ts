import { BerthError, type Problem } from '../../../contract/problem.ts'
import { problemOf } from '../../app/problems.ts'

/** Where a key is typed in, nobody is sent to the settings to replace it. */
const wrongKey = {
  message: 'The service did not accept this API key: it is wrong, incomplete or was revoked.',
  advice: 'Copy the key again, whole, or make another in the service’s web console.',
}

/** What a refusal says of the forms in which a key is given: the field it is about, or what helps there. */
const there: Readonly<Record<string, Partial<Problem>>> = {
  bad_url: { field: 'baseUrl' },
  insecure_url: { field: 'baseUrl' },
  url_has_credentials: { field: 'baseUrl' },
  bad_key: { field: 'key' },
  unauthorized: { ...wrongKey, field: 'key' },
  auth_error: { ...wrongKey, field: 'key' },
}

/** Waits for a key to be taken; what it is refused for is told where it was typed. */
export async function asTyped<Answer>(connecting: Promise<Answer>): Promise<Answer> {
  try {
    return await connecting
  } catch (error) {
    const problem = problemOf(error)
    const further = there[problem.code]
    throw further ? new BerthError({ ...problem, ...further }) : error
  }
}
