import { release } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/**
 * What Berth runs on, in a line: versions of Electron and its parts, of Node, and of the system, and whether pages run
 * outside of Chromium's sandbox.
 */
export function describeRuntime(isSandboxed = true): string {
  const { electron, chrome, node } = process.versions
  const shell = electron === undefined ? '' : `Electron ${electron}, Chromium ${chrome}, `
  return `${shell}Node ${node}; ${process.platform} ${release()} ${process.arch}${isSandboxed ? '' : '; no sandbox'}`
}

/** What is new stays in a megabyte or two, instead of the 32 that a start would leave to a process that idles for days. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
