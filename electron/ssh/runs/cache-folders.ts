import { quote } from '../ssh-command.ts'

/**
 * A script for `sh -s` that keeps folders of the machine on its volume, which is mounted at `at`: each becomes a link to a
 * folder there, and its files move there first. A file of which the volume has another version stays on the machine, in a
 * folder with `.kept-1` after its name. Below the home folder `~/a` is `a` in `.berth-cache`, and elsewhere `/a` is `a` in
 * `.berth-cache-root`. Prints `kept yes`, or why it failed.
 */
export async function keepOnVolume(at: string, folders: readonly string[]): Promise<string> {
  const { default: script } = await import('./cache.sh?raw')
  const places = folders.map(folder => {
    const isOfHome = folder.startsWith('~')
    const name = folder.replace(/^~?\/+/, '')
    const place = isOfHome ? `"$HOME"/${quote([name])}` : quote([folder])
    return { place, kept: quote([`.berth-cache${isOfHome ? '' : '-root'}/${name}`]) }
  })
  const calls = [
    ...places.map(({ place, kept }) => `keep ${place} ${kept} || exit 1`),
    // Once all are moved, since one may have moved another.
    ...places.map(({ place }) => `on_volume ${place} || exit 1`),
  ]
  return ['{', `at=${quote([at])}`, script, ...calls, "echo 'kept yes'", '} 2>&1 < /dev/null', ''].join('\n')
}
