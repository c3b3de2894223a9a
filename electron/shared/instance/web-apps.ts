import { plainText, shortened } from '../text.ts'

/** A web page that an image names: what it is called, and where it is inside the instance. */
export interface WebApp {
  /** Such as `ComfyUI`. */
  name: string
  /** The port that the service maps, behind the image's login. */
  port: number
  /** Where the program itself listens, without a login; the same as `port` where nothing is in front of it. */
  innerPort: number
  /** Begins with a slash. */
  path: string
}

/** The pages that are read, and the most characters of a name and of a path. */
const mostApps = 16
const longestName = 40
const longestPath = 256
/** Characters of a whole `PORTAL_CONFIG` that are read. */
const longestConfig = 8192

/** The pages that menus have: Jupyter has an entry of its own, and the image's list of pages comes last. */
export function shownApps({ apps = [] }: { apps?: readonly WebApp[] }): readonly WebApp[] {
  const others = apps.filter(({ name }) => !/^jupyter\b/i.test(name))
  const isList = ({ name }: WebApp) => /\bportal$/i.test(name)
  return others.toSorted((a, b) => Number(isList(a)) - Number(isList(b)))
}

/**
 * The pages of an image's environment. `PORTAL_CONFIG` lists them as `HOST:PORT:INNER PORT:PATH:NAME`, separated by `|`;
 * `OPEN_BUTTON_PORT` is the port of the one that the service's own *Open* shows. Entries of another form are left out.
 */
export function webApps(environment: Iterable<readonly [name: string, value: string]>): WebApp[] {
  const variables = new Map(environment)
  const listed = (variables.get('PORTAL_CONFIG') ?? '').slice(0, longestConfig).split('|').flatMap(readEntry)
  const [main] = readPort(variables.get('OPEN_BUTTON_PORT'))
  const mainApp = { name: 'Web page', port: main ?? 0, innerPort: main ?? 0, path: '/' }
  const all = main === undefined || listed.some(({ port }) => port === main) ? listed : [mainApp, ...listed]
  const names = new Set<string>()
  const once = all.filter(({ name }) => !names.has(name) && names.add(name))
  return once.slice(0, mostApps)
}

function readEntry(entry: string): WebApp[] {
  const [, outer, inner, path = '', ...rest] = entry.split(':')
  const [port] = readPort(outer)
  const [innerPort] = readPort(inner)
  const name = shortened(plainText(rest.join(':')), longestName)
  if (port === undefined || innerPort === undefined || name === '') return []
  return isPath(path) ? [{ name, port, innerPort, path }] : []
}

function readPort(text: string | undefined): number[] {
  const port = /^\s*\d{1,5}\s*$/.test(text ?? '') ? Number(text) : 0
  return port > 0 && port < 65_536 ? [port] : []
}

/** Whether a path stays at its server: `//other.example` would lead elsewhere. */
function isPath(path: string): boolean {
  return path.length <= longestPath && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)
}
