import { realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve, sep } from 'node:path'
import { specProblemWords } from '#shared/project/project.ts'
import type { ProjectView } from '../shared/project/project.ts'
import type { State } from '../shared/state.ts'
import { type Call, type CliCommand, print, table } from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'

export const project: CliCommand = {
  operands: 'add DIR | ls',
  takes: [1, 2],
  summary: 'Make a folder a project, or list your projects',
  options: ['json'],
  async run(call) {
    const [verb, folder, ...more] = call.operands
    if (verb === 'ls' && folder === undefined) await list(call)
    else if (verb === 'add' && folder !== undefined && more.length === 0) await add(call, folder)
    else throw usageFailure('berth project takes add DIR, or ls.')
    return undefined
  },
}

async function list(call: Call): Promise<void> {
  const { projects } = await call.connection.state()
  const all = Object.values(projects)
  if (call.json) return print(call, { projects: all.map(projectJson) })
  const rows = all.map(each => [each.name, each.folder, whatIsWrong(each)[0] ?? '', each.id])
  if (rows.length > 0) call.write(table(['NAME', 'FOLDER', 'PROBLEM', 'ID'], rows))
}

async function add(call: Call, folder: string): Promise<void> {
  const id = await registerFolder(call, folder)
  const added = (await call.connection.state()).projects[id]
  if (call.json) return print(call, { project: added ? projectJson(added) : { id } })
  call.write(`${id}\n`)
  const wrong = added ? whatIsWrong(added) : []
  for (const each of wrong) call.say(each)
  if (added && wrong.length === 0) call.say(`Added ${added.name}. Next: berth run ${added.name}`)
}

/** Makes the folder a project where it is none; gives the project's id. */
async function registerFolder({ connection }: Call, folder: string): Promise<string> {
  const path = resolve(folder)
  return connection.local('registerProject', { folder: await realpath(path).catch(() => path) })
}

/** The path of an existing folder, without links. */
async function folderAt(word: string): Promise<string | undefined> {
  const path = await realpath(resolve(word)).catch(() => undefined)
  if (path === undefined) return undefined
  return (await stat(path).catch(() => undefined))?.isDirectory() ? path : undefined
}

/**
 * The id of a known project by its id, its folder or its name. A folder comes before a name, since the author of a
 * project's file chooses its name.
 */
export async function findProject(
  { projects }: Pick<State, 'projects'>,
  word: string,
): Promise<string | undefined> {
  if (Object.hasOwn(projects, word)) return word
  const all = Object.values(projects)
  const path = await folderAt(word)
  const there = all.find(({ folder }) => folder.replace(`~${sep}`, `${homedir()}${sep}`) === path)
  if (there) return there.id
  const named = all.filter(({ name }) => name === word)
  if (named.length > 1) throw usageFailure(`${named.length} projects are named ${word}. Use the id.`)
  return named[0]?.id
}

/**
 * Runs work with the id of a project, by its id, its folder or its name, in this order. A folder that is no project becomes
 * one, unless the work fails.
 */
export async function withProject<Result>(
  call: Call,
  word: string,
  work: (id: string, isNew: boolean) => Promise<Result>,
): Promise<Result> {
  const { projects } = await call.connection.state()
  const isFolder = !Object.hasOwn(projects, word) && (await folderAt(word)) !== undefined
  const known = isFolder ? undefined : await findProject({ projects }, word)
  if (known !== undefined) return work(known, false)
  const id = await registerNamed(call, word)
  try {
    return await work(id, !projects[id])
  } catch (error) {
    if (!projects[id]) await call.connection.command('removeProject', { project: id }).catch(() => undefined)
    throw error
  }
}

async function registerNamed(call: Call, word: string): Promise<string> {
  return registerFolder(call, word).catch((error: unknown) => {
    if (!(error instanceof CliFailure) || error.exitCode !== exitCodes.unknown) throw error
    throw new CliFailure(exitCodes.unknown, {
      code: 'no_such_project',
      message: `${word} is neither a project nor a folder.`,
      advice: 'List them: berth project ls',
    })
  })
}

function whatIsWrong({ problem, problems }: ProjectView): string[] {
  return problem ? [problem.message] : problems.map(each => `berth.yaml, ${specProblemWords(each)}`)
}

/** Scripts rely on these fields: they are added, never renamed. */
function projectJson({ id, name, folder, spec, problems, problem }: ProjectView) {
  return { id, name, folder, usable: spec !== undefined, problems, problem: problem?.message ?? null }
}
