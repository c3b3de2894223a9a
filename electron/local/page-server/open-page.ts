import type { Files } from '../../ports/files.ts'
import type { Programs } from '../../ports/programs.ts'
import { openFile } from '../opener.ts'

const name = 'open-berth.html'

/**
 * Opens the page in the user's browser. Its address holds the token, and other users can list command lines, so the
 * browser gets a file that only this user can read. Gives the function that removes it.
 */
export async function openPage(
  files: Files,
  programs: Programs,
  platform: NodeJS.Platform,
  address: string,
): Promise<() => Promise<void>> {
  await files.write(name, leadingTo(address))
  await openFile(programs, platform, files.path(name))
  return () => files.delete(name)
}

/** `address` is of Berth's own making: digits and base64url. */
function leadingTo(address: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Berth</title>
<p><a href="${address}">Open Berth</a></p>
`
}
