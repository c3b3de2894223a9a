import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { longSubjects } from '#build/commits/subjects.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const long = `Say ${'very '.repeat(14)}much`
let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

function git(...args: string[]): string {
  const who = ['-c', 'user.name=Berth', '-c', 'user.email=berth@example.com']
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
}

function commit(subject: string): void {
  git('commit', '--allow-empty', '--quiet', '-m', subject)
}

/** A history with a long subject from before the rule. */
function history(): void {
  git('init', '--quiet', '--initial-branch', 'main')
  commit(`${long} before the rule`)
  writeFileSync(join(folder, 'rule'), '')
  git('add', 'rule')
  commit('Add the rule')
}

test('a subject of 73 characters is found, one of 72 is not', async () => {
  history()
  commit('x'.repeat(72))
  expect(await longSubjects(folder, 'rule')).toEqual([])
  commit('x'.repeat(73))
  expect(await longSubjects(folder, 'rule')).toEqual([expect.stringMatching(/^[0-9a-f]+ x{73}$/)])
})

test('a subject without a blank line after it counts all its lines', async () => {
  history()
  commit(`${'x'.repeat(50)}\n${'y'.repeat(50)}`)
  expect(await longSubjects(folder, 'rule')).toHaveLength(1)
})

test('commits that are on the remote’s main are skipped', async () => {
  history()
  commit(long)
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  expect(await longSubjects(folder, 'rule')).toEqual([])
  commit(`${long} again`)
  expect(await longSubjects(folder, 'rule')).toHaveLength(1)
})

test('a shallow clone is checked as far back as it goes', async () => {
  history()
  commit('Do a thing')
  commit(long)
  git('clone', '--quiet', '--depth', '2', `file://${folder}`, 'shallow')
  git('-C', 'shallow', 'remote', 'remove', 'origin')
  expect(await longSubjects(join(folder, 'shallow'), 'rule')).toEqual([expect.stringContaining(long)])
})

test('without git history nothing is checked', async () => {
  expect(await longSubjects(folder, 'rule')).toBeUndefined()
  git('init', '--quiet')
  expect(await longSubjects(folder, 'rule')).toBeUndefined()
})
