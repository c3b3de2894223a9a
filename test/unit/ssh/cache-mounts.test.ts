import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isInstalled } from '#build/system-parts.ts'
import { keepOnVolume } from '#ssh/runs/cache-folders.ts'
import { asRootNeeds } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'
import { temporaryFolder, writeInto } from '#test/temporary-folder.ts'

const needs = asRootNeeds.length > 0 ? asRootNeeds : ['--mount']
const lacking = lacks({
  what: 'mounts of its own',
  there: spawnSync('unshare', [...needs, 'true']).status === 0,
})

interface Disk {
  /** Commands that mount, after a volume of 1 MB is at `volume`. */
  mounts: string
  /** The sizes of the files in `~/.cache/my hub` and in a folder there. */
  sizes?: readonly number[]
}

/** Writes the size and last line of each file to standard output. */
const list = `find home volume -type f -exec sh -c 'for f; do echo "$(wc -c < "$f") $(tail -n 1 "$f")"; done' sh {} + | sort`

/** Keeps `~/.cache/my hub` on the volume, twice where it worked; `leads`: where that is then. */
async function keep(shell: string, { mounts, sizes = [9, 9] }: Disk) {
  const top = realpathSync(temporaryFolder())
  for (const name of ['home/.cache/my hub/a b', 'volume', 'disk', 'bin'])
    mkdirSync(join(top, name), { recursive: true })
  for (const [index, size] of sizes.entries()) {
    const path = `home/.cache/my hub/${index % 2 ? 'a b/' : ''}${index}`
    writeInto(top, { [path]: `${'x'.repeat(size)}\nfile ${index}\n` })
  }
  if (shell === 'busybox') execFileSync(shell, ['--install', '-s', join(top, 'bin')])
  writeInto(top, {
    keep: await keepOnVolume(join(top, 'volume'), ['~/.cache/my hub']),
    all: `cd "$TOP" && mount -t tmpfs -o size=1m tmpfs volume || exit
${mounts}
${list} > before
PATH=${shell === 'busybox' ? join(top, 'bin') : '$PATH'} sh -s < keep > said
if [ $? = 0 ]; then PATH=${shell === 'busybox' ? join(top, 'bin') : '$PATH'} sh -s < keep > said; fi
${list} > after
readlink -f home/.cache/my\\ hub > leads`,
  })
  const env = { ...process.env, TOP: top, HOME: join(top, 'home') }
  spawnSync('unshare', [...needs, 'sh', join(top, 'all')], { env, stdio: 'inherit' })
  const read = (name: string) =>
    readFileSync(join(top, name), 'utf8').trim().replaceAll(`${top}/`, '').split('\n')
  return {
    said: read('said').join(' '),
    before: read('before'),
    after: read('after'),
    leads: read('leads')[0],
  }
}

const onVolume = 'volume/.berth-cache/.cache/my hub'
const filled = 'head -c 2000000 /dev/zero > volume/fill 2> /dev/null'
/** A disk of its own, since an ordinary user can’t change how another one is mounted. */
const readOnly = (path: string) =>
  `mount -t tmpfs tmpfs disk && cp -a ${path}/. disk && mount --bind disk ${path} && mount -o remount,ro,bind ${path}`

describe.skipIf(lacking).each(['sh', 'busybox'].filter(isInstalled))(
  `a cache kept by %s${lacking}`,
  shell => {
    test.each<[about: string, disk: Disk, why: string]>([
      ['a volume that is full', { mounts: filled, sizes: [5000] }, 'No space left'],
      ['a volume on which it fills up', { mounts: '', sizes: [10, 600_000, 20, 600_000] }, 'No space left'],
      [
        'a volume without room for a folder',
        { mounts: 'mount -t tmpfs -o nr_inodes=2 tmpfs volume' },
        'No space left',
      ],
      ['a volume that is read-only', { mounts: readOnly('volume') }, 'Read-only'],
      ['a home that is read-only', { mounts: readOnly('home') }, 'Read-only'],
      ['one without it', { mounts: `rm -r home/.cache; ${readOnly('home')}`, sizes: [] }, 'Read-only'],
      [
        'another disk in it',
        { mounts: 'mount -t tmpfs tmpfs home/.cache/my\\ hub/a\\ b' },
        'my hub/a b is another disk',
      ],
      [
        'another disk as it',
        { mounts: 'mount -t tmpfs tmpfs home/.cache/my\\ hub' },
        'my hub is another disk',
      ],
      [
        'a file that is a disk',
        { mounts: 'mount --bind all home/.cache/my\\ hub/0' },
        'my hub/0 is another disk',
      ],
    ])('is refused with its reason, and whole, with %s', async (_, disk, why) => {
      const { said, before, after, leads } = await keep(shell, disk)
      expect(said).toContain("home/.cache/my hub can't be kept on the volume: ")
      expect(said).toContain(why)
      expect(new Set(after)).toEqual(new Set(before))
      expect(leads).not.toContain('volume')
    })

    test.each<[about: string, disk: Disk]>([
      ['a disk of its own for the home', { mounts: 'mount --bind disk home && mkdir -p home/.cache' }],
      [
        'a full volume and nothing to move',
        { mounts: `mkdir -p '${onVolume}'; ${filled}; rm -r home/.cache`, sizes: [] },
      ],
      [
        'a read-only volume that has it',
        { mounts: `mkdir -p '${onVolume}/a b'; ${readOnly('volume')}`, sizes: [] },
      ],
    ])('is there with %s', async (_, disk) => {
      const { said, before, after, leads } = await keep(shell, disk)
      expect(said).toBe('kept yes')
      expect(after).toEqual(before)
      expect(leads).toBe(onVolume)
    })

    test('loses no byte, whatever the sizes and the room', async () => {
      const size = fc.nat(400_000)
      const room = fc.constantFrom(
        '',
        'head -c 700000 /dev/zero > volume/fill',
        readOnly('volume'),
        readOnly('home'),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(size, { minLength: 1, maxLength: 6 }), room, async (sizes, mounts) => {
          const { said, before, after, leads } = await keep(shell, { mounts, sizes })
          expect(new Set(after)).toEqual(new Set(before))
          expect(leads).toBe(said === 'kept yes' ? onVolume : 'home/.cache/my hub')
        }),
        { numRuns: 4, endOnFailure: true },
      )
    })
  },
)
