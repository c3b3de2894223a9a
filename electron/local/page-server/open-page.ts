import type { Files } from '../../ports/files.ts'
import type { Programs } from '../../ports/programs.ts'
import { openFile } from '../opener.ts'
import { pageLeadingTo } from '../start/leading-page.ts'

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
  await files.write(name, pageLeadingTo(address, 'Berth'))
  await openFile(programs, platform, files.path(name))
  return () => files.delete(name)
}
