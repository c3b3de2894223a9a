import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInstalled } from '#build/system-parts.ts'
import { lacks, type Need } from '../../needs.ts'

const isRoot = process.getuid?.() === 0

/** An sshd that lets Berth in as `root`. */
export const sshd: Need = isInstalled('sshd')
  ? { what: 'user namespaces, for sshd', there: isRoot || mayUnshare() }
  : 'sshd'

function mayUnshare(): boolean {
  return spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status === 0
}

/** Why no sshd can run here, as the end of a suite's name; '' where one can. */
export const noSshd = lacks(sshd)

/**
 * The shell command that runs `server` so that the user `root` of its machine, as whom Berth logs in, is the user who
 * runs the tests: as root `server` itself. Anyone else gets a namespace whose lists of users and groups say so; it
 * needs no rights of root's on this machine. `folder` is for the lists; `home` is that user's.
 */
export function asRoot(server: string, folder: string, home: string): string {
  if (isRoot) return `exec ${server}`
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  const lists = {
    // Neither `x` nor `*`: sshd takes an account as locked whose password it finds elsewhere, or as none.
    passwd: `root:none:${user}:${group}:root:${home}:/bin/bash\n`,
    // Without a group for terminals, which would have to be given to it.
    group: `root:none:${group}:\n`,
    // Without systemd's own root.
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n',
  }
  const mounts = Object.entries(lists).map(([name, text]) => {
    writeFileSync(join(folder, name), text)
    return `mount --bind '${join(folder, name)}' /etc/${name}`
  })
  return `${mounts.join(' && ')} && exec unshare --user --map-user=${user} --map-group=${group} ${server}`
}

/** What `unshare` is given so that the command of `asRoot` may run in what it makes. */
export const asRootNeeds = isRoot ? [] : ['--user', '--map-root-user', '--mount']
