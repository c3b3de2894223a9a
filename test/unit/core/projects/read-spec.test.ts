import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSpec } from '#core/projects/read-spec.ts'
import { anyCharacter } from '#test/unit/any-character.ts'

describe('a berth.yaml', () => {
  test('needs nothing but `run`', () => {
    expect(readSpec('run: python train.py\n')).toEqual({ spec: { run: 'python train.py' } })
  })

  test('takes times in hours and minutes, and drops trailing slashes of paths', () => {
    const text = 'run: x\nresults: [out/, a/b]\ncheckpoint: 1h30m\nstop: { idle: 45m }\n'
    expect(readSpec(text)).toMatchObject({
      spec: { results: ['out', 'a/b'], checkpoint: 5400, stop: { idle: 2700 } },
    })
  })

  test('names a volume and where it is mounted', () => {
    expect(readSpec('run: x\nvolume: "#4711:/data/sets"\n')).toMatchObject({
      spec: { volume: { name: '#4711', at: '/data/sets' } },
    })
    const created = { name: 'datasets', at: '/data', size: 50 }
    expect(readSpec(`run: x\nvolume: ${JSON.stringify(created)}\n`)).toMatchObject({
      spec: { volume: created },
    })
  })

  test.each([
    ['run: x\nvolume: /data\n', 2, 9, 'enter a volume such as datasets:/data'],
    ['run: x\ncache: [/etc]\n', 2, 9, 'enter a folder on the machine'],
    ['run: x\ncache: ~/../x\n', 2, 8, 'enter a folder on the machine'],
    ['run: x\ncache: ~/.cache/hub\n', 2, 8, 'needs a volume'],
    ['run: x\ncache: [~/a, /data/hub]\nvolume: v:/data/\n', 2, 8, '/data/hub is on the volume already'],
    ['run: x\ncache: /mnt/all\nvolume: v:/mnt/all/v\n', 2, 8, '/mnt/all has the volume in it'],
    ['run: x\ncache: ~/.berth/runs\nvolume: v:/data\n', 2, 8, '~/.berth/runs is Berth’s own'],
    ['run: x\nmachine:\n  gpus: 2\n', 3, 3, 'machine.gpus is unknown. Allowed here: gpu, count, vram'],
    ['run: x\ndisk: lots\n', 2, 7, 'disk: enter the disk in GB'],
    ['run: x\ncheckpoint: 10s\n', 2, 13, 'a time such as 10m, at least a minute'],
    ['run: x\nkeep: 30s\n', 2, 7, 'a time such as 30m or 2h, at least a minute'],
    ['name: y\n', 1, 1, 'run is missing'],
    ['run: x\nresults: [out, ../../.ssh]\n', 2, 16, 'enter a path below the project'],
    ['run: x\nenv:\n  A: { secrets: B }\n', 3, 6, 'env.A: must be a value, or {secret: NAME}'],
    ['run: x\n  y: [1\n', 1, 6, 'Nested mappings'],
    ['', 1, 1, 'It is empty'],
  ])('%j is rejected at line %i, column %i', (text, line, column, message) => {
    const read = readSpec(text)
    const [first] = 'problems' in read ? read.problems : []
    expect(first).toMatchObject({ line, column })
    expect(first?.message).toContain(message)
  })

  test('has a name that looks like no path and shows all its characters', () => {
    const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
    const nasty = fc.constantFrom(
      '.',
      '/',
      '\\',
      ' ',
      'a',
      '\u202e',
      '\u200b',
      '\u2063',
      '\u034f',
      '\u0007',
      '\ufe0f',
    )
    const name = fc.string({
      unit: fc.oneof(nasty, fc.constantFrom('x', 'é', '7'), anyCharacter),
      minLength: 1,
    })
    fc.assert(
      fc.property(name, named => {
        const read = readSpec(JSON.stringify({ run: 'x', name: named }))
        if ('problems' in read) return
        const taken = read.spec.name ?? ''
        expect(taken).not.toMatch(/^[.\s]*$|[/\\]/)
        // A code point without a character of this Unicode version is seen as a box.
        expect(taken.replaceAll(/\p{Cn}|\p{Co}/gu, 'x')).not.toMatch(unseen)
      }),
      { numRuns: 500 },
    )
    for (const plain of ['digits', 'Ünïcode 7', '.hidden', 'a..b', 'v1.5', '数字'])
      expect(readSpec(JSON.stringify({ run: 'x', name: plain }))).toMatchObject({ spec: { name: plain } })
  })

  test.each(['/root/.ssh', '/root/./.ssh/x', '/etc/ssh', '/etc', '//root/', 'x/.ssh'])(
    'takes no file from a cloud to %s',
    to => {
      const spec = { run: 'x', from: { cloud: 's3://bucket/keys', to } }
      expect(readSpec(JSON.stringify(spec))).toMatchObject({ problems: [{}] })
      expect(readSpec(JSON.stringify({ ...spec, from: { ...spec.from, to: '/root/data' } }))).toHaveProperty(
        'spec',
      )
    },
  )

  test('no key or value of a file acts on the screen that shows its problems', () => {
    const text = fc.string({
      unit: fc.constantFrom('x', ':', ' ', '\n', '\u001b', '\u202e'),
      minLength: 1,
    })
    fc.assert(
      fc.property(text, text, fc.constantFrom('env', 'machine', 'stop', 'sweep'), (key, value, below) => {
        for (const spec of [
          { run: 'x', [key]: value },
          { run: 'x', [below]: { [key]: value } },
        ]) {
          const read = readSpec(JSON.stringify(spec))
          if ('problems' in read)
            for (const { message } of read.problems)
              expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
        }
      }),
    )
  })

  test('reports all its errors in the order of lines', () => {
    const read = readSpec('rums: x\ndisk: lots\nmachine:\n  gpus: 2\n  cores: 8\nrun: x\nand: more\n')
    expect('problems' in read && read.problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      expect.stringContaining('1 rums is unknown'),
      expect.stringContaining('2 disk: enter the disk in GB'),
      expect.stringContaining('4 machine.gpus is unknown'),
      expect.stringContaining('5 machine.cores is unknown'),
      expect.stringContaining('7 and is unknown'),
    ])
  })

  test('with endlessly expanding aliases is rejected', () => {
    const bomb = [
      'a: &a [x, x]',
      ...[...'bcdefgh'].map(
        (name, at) => `${name}: &${name} [*${'abcdefg'[at]}, *${'abcdefg'[at]}, *${'abcdefg'[at]}]`,
      ),
    ]
    const read = readSpec(`${bomb.join('\n')}\nrun: x\n`)
    expect('problems' in read && read.problems[0]?.message).toMatch(/aliases/)
  })
})

test.each(['/', '//', '/root', '/root/', '/etc', '/root/.ssh', '/data/../root', '/usr/.'])(
  'a volume is not mounted on %s, which the machine needs',
  at => {
    expect(readSpec(`run: x\nvolume: { name: d, at: ${at}, size: 5 }\n`)).not.toHaveProperty('spec')
  },
)
