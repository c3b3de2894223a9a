import { BerthError } from '../shared/problem.ts'
import type { Clock, Files, Opener, Programs } from './platform.ts'

/** Milliseconds until the browser has surely read the file. */
const readBy = 60_000
/** Names of these files, used in turn, so that addresses opened at once do not share one. */
const fileNames = ['open-link-1.html', 'open-link-2.html', 'open-link-3.html', 'open-link-4.html']

/** Needs of an opener. The files for browsers are in Berth's own folder. */
interface Means {
  files: Files
  clock: Clock
  /** Gives an address that redirects this user to another, once; undefined where that is not possible. */
  leadOnce: (address: string) => Promise<string | undefined>
}

/** Opens addresses with the platform's program for them. */
export function systemOpener(
  programs: Programs,
  platform: NodeJS.Platform,
  { files, clock, leadOnce }: Means,
): Opener {
  let opened = 0
  /** The removal of files that a killed Berth left behind, at the first use. */
  let tidied: Promise<unknown> | undefined

  /** Writes a file that redirects to the address, readable by this user alone and deleted after `readBy`. */
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

/** The normalised address. Throws `link_refused` for all but http and https, and for one with a user. */
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
      message: `Berth can’t open web pages: the program ${name} is missing.`,
      advice: 'Open the address in a browser yourself.',
    })
  }
  await programs.launch(program, [...args, what])
}

const openers: { [platform in NodeJS.Platform]?: [string, ...string[]] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** A page that redirects to an address: a browser gets its file, since a command line would show the address. */
function pageLeadingTo(address: string, title: string): string {
  const target = escaped(address)
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${target}">
<title>${escaped(title)}</title>
<p><a href="${target}">Open ${escaped(title)}</a></p>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
