import { release } from 'node:os'

/** What Berth runs on, in a line: versions of Electron and its parts, of Node, and of the system. */
export function describeRuntime(): string {
  const { electron, chrome, node } = process.versions
  const shell = electron === undefined ? '' : `Electron ${electron}, Chromium ${chrome}, `
  return `${shell}Node ${node}; ${process.platform} ${release()} ${process.arch}`
}
