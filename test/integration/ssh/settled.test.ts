import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processes, readProcess } from '#build/process-tree.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { type StopNotice, settleRun, startRun, tellOfStop } from '#ssh/runs/runs.ts'
import { openPlace } from './files/place.ts'
import { noSshd } from './own-root.ts'

/** Starts a command with a result in `out`, and resolves once the command has created the file `up`. */
async function started(command: string, notice?: StopNotice) {
  const { sshd, connect } = await openPlace()
  const { connection } = await connect()
  // Its processes are found by it, also beside those of other tests.
  const id = `x${randomBytes(8).toString('hex')}`
  await startRun(connection, systemClock, id, {
    command,
    // As each run of a project has it.
    before: 'export BERTH_RUN=1 BERTH_COMMAND=p1.1.; cd ~ && mkdir out || exit 1\n',
    notice,
    order: undefined,
    environment: {},
  })
  await expect.poll(() => existsSync(join(sshd.home, 'up')), { timeout: 20_000 }).toBe(true)
  return {
    result: () => readFileSync(join(sshd.home, 'out/ckpt'), 'utf8'),
    parts: (set: string) => readdirSync(join(sshd.home, 'out', set)),
    /** What is noted as its end, and when it wrote the file `late`: epoch seconds. */
    end: () => Number.parseInt(readFileSync(join(sshd.home, `.berth/runs/${id}/alive`), 'utf8'), 10),
    late: () => statSync(join(sshd.home, 'late')).mtimeMs / 1000,
    /** The processes that write yet. */
    left: () => processes().filter(({ pid }) => readProcess(pid, 'cmdline').includes('syswrite')),
    tell: () => tellOfStop(connection, systemClock, id),
    settle: (seconds: number) =>
      settleRun(connection, systemClock, id, { folder: sshd.home, paths: ['out'], seconds }),
  }
}

/** A program that logs all the time into its results, and what it does at SIGTERM. */
const perl = (atTerm: string) =>
  `perl -e '${atTerm} open(UP, ">up"); for (;;) { open(LOG, ">>out/log"); print LOG "x\\n"; close(LOG); select(undef, undef, undef, 0.1) }'`
const saves = `$SIG{TERM} = sub { sleep 1; open(F, ">out/ckpt"); print F "saved"; close(F); exit 0 };`
/** Saves too, and prints while it does, which fails once nobody reads it. */
const says = [
  '$SIG{PIPE} = sub { exit 1 }; $| = 1;',
  '$SIG{TERM} = sub { sleep 1; print "saving\\n"; sleep 1; print "saving\\n";',
  'open(F, ">out/ckpt"); print F "saved"; close(F); exit 0 };',
].join(' ')
const notice = { signal: 'TERM', seconds: 60 } as const

describe.skipIf(noSshd)(`the results of a command that is ended${noSshd}`, () => {
  test.each([
    ['', ''],
    ['in place of its shell, ', 'exec '],
    // In a group of its own.
    ['within a time, ', 'timeout 600 '],
  ])('are whole where, %sit saves at SIGTERM and ends, though it logs until then', async (_, prefix) => {
    const { settle, result } = await started(prefix + perl(saves))
    expect(await settle(2)).toBe(true)
    expect(result()).toBe('saved')
  })

  test('are whole where it has saved before a stop', async () => {
    const { settle, tell, result } = await started(perl(saves), notice)
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(await settle(60)).toBe(true)
    expect(result()).toBe('saved')
  })

  test.each([
    ['whose output is copied to a file', `${perl(says)} | tee out/printed`],
    ['beside a loop', `(while sleep 0.3; do date >> out/gpu; done) & ${perl(says)}`],
    [
      'with a process that loads its data',
      perl(`${says} if (!fork()) { $SIG{TERM} = "DEFAULT"; sleep 600; exit }`),
    ],
    [
      'that notices the end of such a process',
      perl(`$SIG{CHLD} = sub { exit 1 }; ${says} if (!fork()) { exec "sleep 600" }`),
    ],
  ])('are whole, and told to the end, of a command %s, before a stop and without one', async (_, command) => {
    const saved = async (order: StopNotice | undefined) => {
      const { settle, tell, result } = await started(command, order)
      if (order) await expect.poll(tell, { timeout: 20_000 }).toBe(true)
      expect(await settle(2)).toBe(true)
      expect(result()).toBe('saved')
    }
    await Promise.all([saved(notice), saved(undefined)])
  })

  const child = (then: string) =>
    [
      `$child = fork(); if (!$child) { $SIG{TERM} = "DEFAULT"; ${then} }`,
      '$SIG{TERM} = sub { kill "TERM", $child; sleep 3; open(F, ">late"); exit 1 };',
    ].join(' ')
  const writes = `open(F, ">out/ckpt"); for (;;) { syswrite(F, "x"); select(undef, undef, undef, 0.1) }`
  const writesAtTimes = `exec "perl", "-e", q{for (;;) { open(F, ">out/part"); close(F); sleep 2 }};`
  test.each([
    ['writes', writes],
    ['writes a part of it now and then', writesAtTimes],
  ])(
    'may be half since the signal where what takes it passes it on to what %s, and ends later',
    async (_, then) => {
      const asked = await started(perl(child(then)))
      expect(await asked.settle(2)).toBe(false)
      const told = await started(perl(child(then)), notice)
      await expect.poll(told.tell, { timeout: 20_000 }).toBe(true)
      expect(await told.settle(60)).toBe(false)
      for (const { end, late } of [asked, told]) expect(end()).toBeLessThan(late() - 1)
    },
  )

  test('may be half where it dies by the signal while it writes, and it hears of no stop before that', async () => {
    const { settle, tell } = await started(perl(''), notice)
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(await settle(2)).toBe(false)
  })

  test('are whole where it would die by the signal, and rests after a save', async () => {
    const save = 'open(F, ">out/ckpt"); print F "saved"; close(F); open(UP, ">up"); sleep 600'
    const { settle, tell, result } = await started(`perl -e '${save}'`, notice)
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(await settle(30)).toBe(true)
    // Asked again, as by a Berth that was killed meanwhile.
    expect(await settle(30)).toBe(true)
    expect(result()).toBe('saved')
  })

  const sets = (parts: number, then: string) =>
    [
      `for $set (1, 2) { mkdir "out/step-$set"; for $part (1 .. ($set == 1 ? 4 : ${parts})) {`,
      'open(F, ">out/step-$set/rank$part"); print F "saved"; close(F);',
      `if ($set == 2 && $part == 2) { open(UP, ">up"); ${then} } } }`,
    ].join(' ')

  test('wait for the parts of a checkpoint that come seconds apart, and may be half without them', async () => {
    const named = 'for $step (1, 2) { for $part ("G", "D") { open(F, ">out/$part.$step"); close(F);'
    const beside = await started(
      `perl -e '${named} if ($step == 2 && $part eq "G") { open(UP, ">up"); sleep 9 } } } sleep 600'`,
    )
    const slow = await started(`perl -e '${sets(4, 'sleep 9;')} sleep 600'`)
    const ever = await started(`perl -e '${sets(2, '')} for (;;) { sleep 600 }'`)
    const save = 'open(F, ">out/ranks/$ARGV[0].pt"); close(F); open(UP, ">up")'
    const rank = `perl -e 'sleep 6 * $ARGV[0]; ${save}; for (;;) { sleep 600 }'`
    const several = await started(`mkdir out/ranks; for rank in 0 1; do ${rank} $rank & done; wait`)
    const [came, lacking, all, both] = await Promise.all([
      slow.settle(60),
      ever.settle(8),
      several.settle(60),
      beside.settle(60),
    ])
    expect([came, lacking, all, both]).toEqual([true, false, true, true])
    expect(beside.parts('.')).toHaveLength(4)
    expect(slow.parts('step-2')).toHaveLength(4)
    expect(several.parts('ranks')).toHaveLength(2)
  })

  const renames = 'open(F, ">out/new"); print F "saved"; close(F); rename("out/new", "out/ckpt");'
  const before = 'open(LOG, ">>out/log"); print LOG "x\\n" x 999; close(LOG);'
  const reports = (times: number) =>
    `for (1..${times}) { open(S, ">out/status.json"); print S "{}"; close(S); select(undef, undef, undef, 0.3) }`
  const logs = 'open(LOG, ">>out/log"); print LOG "x\\n"; close(LOG); select(undef, undef, undef, 0.3)'
  test.each([
    [
      'are whole where it logs all the time beside a save',
      `${before} ${renames} open(UP, ">up"); for (;;) { ${logs} }`,
      true,
    ],
    [
      'are whole where it saves one file all the time',
      `${before} open(UP, ">up"); for (;;) { ${renames} ${logs} }`,
      true,
    ],
    [
      'may be half where it saves several all the time',
      `open(UP, ">up"); for (;;) { ${renames} ${renames.replaceAll('ckpt', 'part')} ${logs} }`,
      false,
    ],
    [
      'are whole where it logs into a new file beside a save',
      `open(UP, ">up"); for (;;) { ${renames} ${logs.replaceAll('out/log', 'out/events.out.tfevents.1')} }`,
      true,
    ],
    [
      'are whole where it logs into a new file now and then beside a save',
      `open(UP, ">up"); for (;;) { ${renames} $epoch += 1; for (1..9) { ${logs.replaceAll('out/log', 'out/events.$epoch')} } }`,
      true,
    ],
    [
      'are whole where it logs into a text that is young beside a save',
      `open(UP, ">up"); for (;;) { ${renames} ${logs.replaceAll('out/log', 'out/train_log.txt')} }`,
      true,
    ],
    [
      'are whole where it writes its status all the time beside a save',
      `open(UP, ">up"); ${reports(8)} for (;;) { ${renames} ${reports(20)} }`,
      true,
    ],
    [
      'are whole where it writes two statuses all the time beside a save',
      `open(UP, ">up"); ${reports(8)} for (;;) { ${renames} ${reports(20).replace('select', 'open(S, ">out/sum.json"); print S "{}"; close(S); select')} }`,
      true,
    ],
    [
      'may be half where it saves two all the time, a small one and a large one',
      `open(UP, ">up"); for (;;) { open(F, ">out/ckpt"); for (1..3) { syswrite(F, "x" x 99999); select(undef, undef, undef, 0.3) } close(F); ${renames.replaceAll('ckpt', 'step')} }`,
      false,
    ],
    [
      'may be half where it writes one slowly',
      `${before} open(F, ">out/ckpt"); syswrite(F, "x" x 9); open(UP, ">up"); for (;;) { syswrite(F, "x" x 9); ${logs} }`,
      false,
    ],
    [
      'may be half where it writes one all the time',
      `open(UP, ">up"); for (;;) { open(F, ">out/ckpt"); for (1..9) { syswrite(F, "x" x 9); ${logs} } }`,
      false,
    ],
  ] as const)('%s, and dies by the signal', async (_, program, whole) => {
    const { settle } = await started(`perl -e '${program}'`)
    expect(await settle(12)).toBe(whole)
  })

  test.each([
    [
      'are whole where its last file was put in its place',
      'echo saved > out/new; sleep 0.1; mv out/new out/ckpt',
      true,
    ],
    [
      'are whole where its last file was put in its place at once',
      `perl -e 'open(F, ">out/new"); syswrite(F, "sa"); select(undef, undef, undef, 0.05); syswrite(F, "ved"); rename("out/new", "out/ckpt")'`,
      true,
    ],
    [
      'are whole where it was saving again beside its last file',
      'echo saved > out/ckpt; sleep 0.1; echo sa > out/ckpt.tmp',
      true,
    ],
    [
      'are whole where it removed an older file after its last one',
      'echo old > out/old.txt; echo saved > out/ckpt; sleep 0.1; rm out/old.txt',
      true,
    ],
    [
      'may be half where its last file may be one of several',
      'mkdir out/1 out/2; echo 1 > out/1/ckpt; touch -d "1 hour ago" out/1/ckpt; echo 2 > out/new; sleep 0.1; mv out/new out/2/ckpt',
      false,
    ],
    ['may be half where its last file was only written', 'echo saved > out/ckpt', false],
    [
      'may be half where its last file was written for a while',
      '(echo sa; sleep 0.1; echo ved) > out/ckpt',
      false,
    ],
    [
      'may be half where another file was put in its place',
      'echo half > out/ckpt; echo x > out/new; sleep 0.1; mv out/new out/part',
      false,
    ],
  ] as const)('%s, and it was killed', async (_, save, whole) => {
    const { settle } = await started(`${save}; > up; kill -9 $$`)
    await expect.poll(() => settle(2), { timeout: 20_000 }).toBe(whole)
  })

  test('may be half where it still saves when its time before a stop is over', async () => {
    const long = `$SIG{TERM} = sub { open(F, ">out/ckpt"); for (1..300) { syswrite(F, "x"); select(undef, undef, undef, 0.1) } exit 0 };`
    const { settle, tell, left } = await started(perl(long), { signal: 'TERM', seconds: 2 })
    await expect.poll(tell, { timeout: 20_000 }).toBe(true)
    expect(await settle(2)).toBe(false)
    expect(left()).toEqual([])
  })

  test('are never half where it pauses for as long as it takes to see that it rests', async () => {
    const half = 'printf begun > out/ckpt; sleep 0.7; printf " and ended" >> out/ckpt'
    const { settle, result } = await started(`> up; while :; do ${half}; sleep 6; done`)
    if (await settle(20)) expect(result()).toBe('begun and ended')
  })
})
