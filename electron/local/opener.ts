import { BerthError } from '../contract/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Opener } from '../ports/opener.ts'
import type { Programs } from '../ports/programs.ts'
import { pageLeadingTo } from './private-open/leading-page.ts'

/** Milliseconds after which a browser has read the file that it was given. */
const readBy = 60_000
/** Names for such files, in turn, so that two that are opened at once do not meet. */
const fileNames = ['open-link-1.html', 'open-link-2.html', 'open-link-3.html', 'open-link-4.html']

/** What an opener needs beside programs. Files for browsers lie with Berth's own. */
interface Means {
  files: Files
  clock: Clock
  /** Gives an address that leads this user alone on to another, once; undefined where that cannot be had. */
  leadOnce: (address: string) => Promise<string | undefined>
}

/** Opens addresses with the program that this platform has for it. */
export function systemOpener(
  programs: Programs,
  platform: NodeJS.Platform,
  { files, clock, leadOnce }: Means,
): Opener {
  let opened = 0
  /** What a kill left behind goes with the first use. */
  let tidied: Promise<unknown> | undefined

  /** A file that leads to the address, for this user alone; it goes after a while. */
  async function fileLeadingTo(address: string): Promise<string> {
    tidied ??= Promise.all(fileNames.map(name => files.delete(name)))
    await tidied
    const name = fileNames[opened++ % fileNames.length] ?? 'open-link.html'
    await files.write(name, pageLeadingTo(address, new URL(address).host))
    clock.after(readBy, () => void files.delete(name).catch(() => undefined))
    return files.path(name)
  }

  return {
    async openLink(url) {
      await openWith(programs, platform, webAddress(url))
    },
    async openPrivately(url) {
      const address = webAddress(url)
      await openWith(programs, platform, (await leadOnce(address)) ?? (await fileLeadingTo(address)))
    },
  }
}

/** The address as its parser writes it, without a surprise in it. Throws a BerthError for all but http and https. */
export function webAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const web = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  if (parsed === undefined || !web || parsed.username !== '' || parsed.password !== '') {
    throw new BerthError({
      code: 'link_refused',
      message: 'Only plain web addresses (http and https) are opened.',
    })
  }
  return parsed.href
}

async function openWith(programs: Programs, platform: NodeJS.Platform, what: string): Promise<void> {
  const [name, ...args] = openers[platform] ?? ['xdg-open']
  const program = await programs.find(name)
  if (program === undefined) {
    throw new BerthError({
      code: 'no_browser',
      message: `Nothing here opens a web page: the program ${name} is missing.`,
      advice: 'Open the address in a browser by hand.',
    })
  }
  await programs.launch(program, [...args, what])
}

const openers: { [platform in NodeJS.Platform]?: [string, ...string[]] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
