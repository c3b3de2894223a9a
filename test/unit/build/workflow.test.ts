import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  name?: string
  uses?: string
  run?: string
}
interface Job {
  'runs-on': string
  'timeout-minutes': number
  strategy?: { matrix: { os?: string[]; include?: { os: string; program?: string }[] } }
  permissions?: object
  needs?: string[]
  steps: Step[]
}
const workflow: { on: object; permissions: object; jobs: Record<string, Job> } = parse(
  readFileSync('.github/workflows/ci.yml', 'utf8'),
)
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
const jobs = Object.values(workflow.jobs)
const runs = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))

test('each job has a time limit, and each step either runs or uses something', () => {
  for (const { steps, ...job } of jobs) {
    expect(job['timeout-minutes']).toBeGreaterThan(0)
    for (const step of steps) expect([step.run, step.uses].filter(Boolean)).toHaveLength(1)
  }
  expect(workflow.permissions).toEqual({ contents: 'read' })
})

test('every npm script that the workflow runs exists', () => {
  const named = runs.flatMap(run => [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name))
  expect(named).toEqual(expect.arrayContaining(['package']))
  expect(named.filter(name => scripts[name] === undefined)).toEqual([])
  expect(existsSync('.ci/run')).toBe(true)
})

test('the workflow tests and packages on three systems, and starts what it packaged', () => {
  const { package: packaging, test: tests } = workflow.jobs
  const matrix = packaging?.strategy?.matrix.include ?? []
  expect(tests?.strategy?.matrix.os).toEqual(['macos-latest', 'windows-latest'])
  expect(matrix.map(({ os }) => os)).toEqual(['ubuntu-latest', 'macos-latest', 'windows-latest'])
  expect(workflow.jobs['test-linux']?.['runs-on']).toBe('ubuntu-latest')
  for (const { program } of matrix) expect(program).toMatch(/^release\//)
  expect(packaging?.steps.filter(({ run }) => run?.includes('test/electron/shipped'))).toHaveLength(1)
})

test('only the release job may write, and it needs all others', () => {
  const { release, ...others } = workflow.jobs
  expect(release?.needs?.toSorted()).toEqual(Object.keys(others).toSorted())
  for (const job of Object.values(others)) expect(job.permissions).toBeUndefined()
})
