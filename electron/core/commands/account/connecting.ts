import { BerthError, type Problem } from '#contract/problem.ts'
import { problemOf } from '#core/app/problems.ts'

/** Replaces the usual words, which send the user to the settings. */
const wrongKey = {
  message: 'The service did not accept this API key: it is wrong, incomplete or was revoked.',
  advice: 'Copy the key again, whole, or make another in the service’s web console.',
}

/** What to add to a problem in forms that take a key: the field at fault, or better words. */
const there: Readonly<Record<string, Partial<Problem>>> = {
  bad_url: { field: 'baseUrl' },
  insecure_url: { field: 'baseUrl' },
  url_has_credentials: { field: 'baseUrl' },
  bad_key: { field: 'key' },
  unauthorized: { ...wrongKey, field: 'key' },
  auth_error: { ...wrongKey, field: 'key' },
}

/** Awaits the use of a typed key; a refusal names the field at fault. */
export async function serviceAddressAsTyped<Answer>(connecting: Promise<Answer>): Promise<Answer> {
  try {
    return await connecting
  } catch (error) {
    const problem = problemOf(error)
    const further = there[problem.code]
    throw further ? new BerthError({ ...problem, ...further }) : error
  }
}
