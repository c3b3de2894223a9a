import * as v from 'valibot'
import { firstLines } from '#contract/text.ts'

/** The most characters of a list, and the most lines and characters per line, that are read. */
const longestList = 65_536
const bounds = { lines: 256, length: 8192 }

/** A Jupyter server inside the instance, as Jupyter lists it. */
export interface ListedJupyter {
  port: number
  /** Empty if the server needs no token. */
  token: string
  /** The path below the server's origin; begins and ends with a slash. */
  basePath: string
  /** Its process, where the list has it. */
  pid?: number | undefined
}

const Port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))
const Token = v.pipe(v.string(), v.maxLength(512), v.regex(/^[\x21-\x7e]*$/))
const BasePath = v.pipe(v.string(), v.maxLength(512), v.regex(/^\/([A-Za-z0-9._~@-]+\/)*$/))
const Server = v.object({
  port: Port,
  token: v.optional(Token, ''),
  base_url: v.optional(BasePath, '/'),
  pid: v.fallback(v.optional(v.number()), undefined),
})

/**
 * Parses the output of `jupyter server list` or `jupyter notebook list`: with `--json` one object per line, with
 * `--jsonlist` one list, with neither one address per line. Anything else is skipped.
 */
export function readJupyterList(text: string): ListedJupyter[] {
  const whole = fromJson(text.slice(0, longestList))
  return whole.length > 0
    ? whole
    : firstLines(text, bounds).flatMap(line => [...fromJson(line), ...fromAddress(line)])
}

function fromJson(text: string): ListedJupyter[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(value) ? value.slice(0, bounds.lines) : [value]).flatMap(one => {
    const server = v.safeParse(Server, one)
    if (!server.success) return []
    const { port, token, base_url: basePath, pid } = server.output
    return [{ port, token, basePath, ...(pid === undefined ? {} : { pid }) }]
  })
}

/** `http://localhost:8888/?token=… :: /workspace` */
function fromAddress(line: string): ListedJupyter[] {
  const text = /https?:\/\/\S+/.exec(line)?.[0]
  const address = text === undefined ? null : URL.parse(text)
  if (address === null) return []
  const port = address.port === '' ? (address.protocol === 'https:' ? 443 : 80) : Number(address.port)
  return fromJson(
    JSON.stringify({ port, token: address.searchParams.get('token') ?? '', base_url: address.pathname }),
  )
}

/**
 * The servers of a list in the order to try them: those at the service's usual port before others, and newer ones before
 * older ones. Jupyter also lists servers that have ended.
 */
export function likeliestFirst(list: readonly ListedJupyter[], usual: number): ListedJupyter[] {
  return list.toReversed().sort((a, b) => {
    const byPort = Number(b.port === usual) - Number(a.port === usual)
    return byPort === 0 && a.pid !== undefined && b.pid !== undefined ? b.pid - a.pid : byPort
  })
}
