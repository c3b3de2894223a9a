import type { Stats } from 'node:fs'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const bits = 'rwxrwxrwx'

/** One line of `ls -l`, without the name. Everything belongs to root, as on an instance. Times are UTC. */
export function longLine(stats: Stats, sizeWidth = 8): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-'
  const mode = [...bits].map((bit, index) => (stats.mode & (0o400 >> index) ? bit : '-')).join('')
  const at = stats.mtime
  const time = `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`
  const day = `${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2)} ${time}`
  return `${kind}${mode} ${String(stats.nlink).padStart(2)} root root ${String(stats.size).padStart(sizeWidth)} ${day}`
}

function pad(number: number): string {
  return String(number).padStart(2, '0')
}
