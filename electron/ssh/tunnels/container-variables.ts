import type { Clock } from '#platform/platform.ts'
import type { Connection } from '../connection/connection.ts'
import { outputOf } from '../exec.ts'

/** What a container was started with, and what its image exports; either may be unreadable or missing. */
const command = 'cat /proc/1/environ /etc/environment 2>/dev/null'
/** Milliseconds for an answer, and the most bytes of it. */
const bounds = { within: 10_000, most: 262_144 }

/** The user and the password of the login in front of an image's web pages. */
export interface WebLogin {
  user: string
  password: string
}

/**
 * The variables of an instance's container, which its shells need not have. They hold secrets: keep none of them. Throws
 * as `outputOf` does.
 */
export async function containerVariables(connection: Connection, clock: Clock): Promise<Map<string, string>> {
  const { text } = await outputOf(connection, command, { clock, ...bounds })
  return readVariables(text)
}

/** Reads `NAME=value` with NUL or a line's end after each, as `/proc` and `/etc/environment` write them; the first counts. */
export function readVariables(text: string): Map<string, string> {
  const variables = new Map<string, string>()
  for (const entry of text.split(/[\0\n]/)) {
    const [, name = '', value = ''] = /^(?:export )?([A-Za-z_]\w*)=(.*)$/s.exec(entry) ?? []
    if (name !== '' && !variables.has(name)) variables.set(name, unquoted(value.trim()))
  }
  return variables
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value
}

const password = /^[\x21-\x7e]{1,512}$/

/**
 * The login of an image's web pages: `WEB_USERNAME` and `WEB_PASSWORD`, else the usual user and the token that the
 * service made for the instance. Undefined where the image has none.
 */
export function webLogin(variables: ReadonlyMap<string, string>): WebLogin | undefined {
  const known = ['WEB_PASSWORD', 'OPEN_BUTTON_TOKEN'].map(name => variables.get(name) ?? '')
  const found = known.find(text => password.test(text))
  const user = variables.get('WEB_USERNAME') ?? ''
  return found === undefined ? undefined : { user: password.test(user) ? user : 'vastai', password: found }
}
