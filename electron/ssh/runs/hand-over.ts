import { basename, dirname } from 'node:path/posix'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { openExec, outputOf, shellQuoted } from '../exec.ts'
import { makeKeyPair } from '../keys/openssh-key.ts'

/** The machine that has results, and the one that is to get them. */
export interface Handing {
  from: Connection
  to: Connection
  clock: Clock
  /** The absolute path of the project's folder on the first one, and the results in it. */
  folder: string
  paths: readonly string[]
  /** The same folder on the second one, relative to the home folder. */
  target: string
  /** The absolute path of the folder there with a folder for each result, by its number. */
  side: string
  signal: AbortSignal
}

/**
 * Files by their paths in a result's parent folder, with their SHA-256; '' for a link. What a link out of the result leads to
 * is below the link's path.
 */
export type Listing = ReadonlyMap<string, string>

/** The same as a machine tells it, and how many names it couldn't tell. */
interface Told {
  files: Listing
  unnamed: number
}

/** How results came to another machine, and how many files: `direct` from host to host, else through this computer. */
export interface HandedOver {
  files: number
  isDirect: boolean
  /** Files whose names can't be told to the other machine, and that stay. */
  unnamed?: number
}

/** Milliseconds for a machine to read all its results, and to send them; bytes of the list that it prints. */
const bounds = { within: 1_800_000, most: 16 * 1024 * 1024 }

/**
 * Sends what a machine's results have newer than another's into folders there: from host to host, with a key that can do
 * nothing else, or else through this computer. All that came has the hash that it had. Throws `not_handed_over`, `ssh_closed`
 * and as `outputOf` does.
 */
export async function handOver(handing: Handing): Promise<HandedOver> {
  const { paths, folder, target, side } = handing
  // Each machine reads all of its results.
  const [have, had] = await Promise.all([listed(handing, 'from', folder), listed(handing, 'to', target)])
  const filesOf = (told: readonly Told[], number: number): Listing => told[number]?.files ?? new Map()
  const lists = paths.map((_, number) => missing(filesOf(have, number), filesOf(had, number)))
  const files = lists.reduce((sum, list) => sum + list.length, 0)
  const unnamed = have.reduce((sum, list) => sum + list.unnamed, 0)
  const handed = { files, ...(unnamed > 0 && { unnamed }) }
  if (files === 0) return { ...handed, isDirect: true }
  const keepsHoles = (await isGnuTar(handing, 'from')) && (await isGnuTar(handing, 'to'))
  const archives = lists.flatMap((list, number) =>
    archivesOf(list, filesOf(have, number), number, keepsHoles),
  )
  const isDirect = await sendDirectly(handing, archives)
  if (!isDirect) await sendThroughHere(handing, archives)
  for (const [number, list] of lists.entries()) {
    const [came] = await listed(handing, 'to', `${side}/${number}`, [basename(paths[number] ?? '')], false)
    const isWhole = list.every(name => came?.files.get(name) === filesOf(have, number).get(name))
    if (!isWhole) throw new BerthError(notHandedOver)
  }
  return { ...handed, isDirect }
}

/** The names of the files that the second machine lacks, or has otherwise; all links. */
export function missing(have: Listing, had: Listing): string[] {
  return [...have].filter(([name, hash]) => hash === '' || had.get(name) !== hash).map(([name]) => name)
}

/** Names that are sent together, of the result with that number: links as such, or files, also through links, and with their holes. */
interface Archive {
  number: number
  names: readonly string[]
  option: '' | 'h' | 'hS'
}

function archivesOf(names: readonly string[], have: Listing, number: number, keepsHoles: boolean): Archive[] {
  const isLink = (name: string) => have.get(name) === ''
  const archives: Archive[] = [
    { number, names: names.filter(name => !isLink(name)), option: keepsHoles ? 'hS' : 'h' },
    { number, names: names.filter(isLink), option: '' },
  ]
  return archives.filter(archive => archive.names.length > 0)
}

/**
 * Reads `HASH  ./name` and `link  ./name`. Names that no list can carry are only counted: those with line ends or backslashes,
 * and what isn't UTF-8.
 */
export function readListing(text: string): Told {
  const files = new Map<string, string>()
  let unnamed = 0
  for (const line of text.split('\n')) {
    const [, hash = '', name = ''] = /^([0-9a-f]{64}|link) [ *](\.\/[^\\\uFFFD]+)$/.exec(line) ?? []
    if (name !== '') files.set(name, hash === 'link' ? '' : hash)
    else if (/^\\?[0-9a-f]{64} /.test(line)) unnamed += 1
  }
  return { files, unnamed }
}

/** Whether the machine's `tar` can leave out the holes of files, and make them again. */
async function isGnuTar({ from, to, clock }: Handing, on: 'from' | 'to'): Promise<boolean> {
  const asked = { clock, within: 30_000, most: 4096 }
  return (await outputOf(on === 'from' ? from : to, 'tar --version', asked)).text.includes('GNU tar')
}

/** Of each result, its files. `at`: absolute, or relative to the home folder. */
async function listed(
  { from, to, clock, paths }: Handing,
  on: 'from' | 'to',
  at: string,
  results: readonly string[] = paths,
  follows = true,
): Promise<Told[]> {
  const lists: Told[] = []
  for (const path of results) {
    const input = await listingScript(`${at}/${dirname(path)}`, basename(path), follows)
    const { text, code } = await outputOf(on === 'from' ? from : to, 'sh -s', { clock, ...bounds, input })
    if (code !== 0) throw new BerthError(notHandedOver)
    lists.push(readListing(text))
  }
  return lists
}

/**
 * A script for `sh -s` that lists a file or all below it, in a folder that is absolute or relative to the home folder.
 * `follows`: links that lead out of it stand for what they lead to.
 */
export async function listingScript(folder: string, name: string, follows = true): Promise<string> {
  const { default: links } = await import('./links.sh?raw')
  const word = shellQuoted(`./${name}`)
  return [
    '{',
    links,
    `cd && cd ${shellQuoted(folder)} 2>/dev/null || exit 0`,
    `[ -e ${word} ] || exit 0`,
    // The result itself may be a link, as to another disk.
    `find -H ${word} -type f -exec sha256sum {} +`,
    `outward=${follows ? `$(berth_outward ${word})` : ''}`,
    `find -H ${word} -type l | grep -v -F -x -e "$outward" | sed 's/^/link  /'`,
    `printf '%s\n' "$outward" | while IFS= read -r link; do`,
    '  if [ -d "$link" ]; then',
    '    find -H "$link" -type f -exec sha256sum {} +',
    `    find -H "$link" -type l | sed 's/^/link  /'`,
    '  elif [ -f "$link" ]; then sha256sum "$link"; fi',
    'done',
    '} < /dev/null',
    '',
  ].join('\n')
}

/** Whether the machine could send them to the other one by itself. */
async function sendDirectly(
  { from, to, clock, folder, paths, side }: Handing,
  archives: readonly Archive[],
): Promise<boolean> {
  const [receive, send] = await Promise.all([import('./receive.sh?raw'), import('./hand-over.sh?raw')])
  const { privateKey, publicKey } = makeKeyPair('berth-hand-over')
  const own = publicKey.split(' ')[1] ?? ''
  try {
    const begins = [
      '{',
      `side=${shellQuoted(side)} key=${shellQuoted(publicKey)}`,
      receive.default,
      '} < /dev/null',
      '',
    ]
    const answer = await outputOf(to, 'sh -s', {
      clock,
      within: 30_000,
      most: 4096,
      input: begins.join('\n'),
    })
    if (!answer.text.includes('receives')) return false
    const { host, port } = to.address
    const input = [
      '{',
      `key=${shellQuoted(privateKey)} host=${shellQuoted(host)} port=${port} known=${shellQuoted(to.hostKey.line)}`,
      send.default,
      ...archives.map(
        ({ number, names, option }) =>
          `send ${number} ${shellQuoted(`${folder}/${dirname(paths[number] ?? '')}`)} ${shellQuoted(lines(names))} ${option}`,
      ),
      'echo handed over',
      '} < /dev/null',
      '',
    ]
    const sent = await outputOf(from, 'sh -s', { clock, ...bounds, most: 4096, input: input.join('\n') })
    return sent.text.includes('handed over')
  } finally {
    const remove = `rm -f ${shellQuoted(`${side}/receive.sh`)}; cd && cd .ssh && grep -v -F ${own} authorized_keys > keys.berth;
      cat keys.berth > authorized_keys; rm -f keys.berth`
    await outputOf(to, remove, { clock, within: 30_000, most: 4096 }).catch(() => undefined)
  }
}

async function sendThroughHere(
  { from, to, clock, folder, paths, side, signal }: Handing,
  archives: readonly Archive[],
): Promise<void> {
  for (const { number, names, option } of archives) {
    const parent = shellQuoted(`${folder}/${dirname(paths[number] ?? '')}`)
    const source = await openExec(from, clock, `tar -c${option}f - -C ${parent} -T -`)
    const sink = await openExec(to, clock, `tar -xf - -C ${shellQuoted(`${side}/${number}`)}`)
    try {
      await Promise.all([source.begun, sink.begun])
      sink.output.resume()
      source.channel.end(lines(names))
      await pipeline(source.output, sink.channel, { signal })
      await Promise.all([source.ended, sink.ended])
    } finally {
      source.close()
      sink.close()
    }
  }
}

const lines = (names: readonly string[]) => names.map(name => `${name}\n`).join('')

const notHandedOver = {
  code: 'not_handed_over',
  message: 'The results did not come whole to the next machine.',
  advice: 'They stay on the machine before it.',
}
