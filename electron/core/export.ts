import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { parseBaseUrl } from '#service/base-url.ts'
import { AnyExport, ExportFile, type ImportPlan, longestExport, travellingSettings } from '#shared/export.ts'
import { lessSafe } from '#shared/less-safe.ts'
import { BerthError } from '#shared/problem.ts'
import type { SettingsChange } from '#shared/settings.ts'
import type { State } from '#shared/state.ts'
import { withoutByteOrderMark } from '#shared/text.ts'
import { settingsAfter } from './settings.ts'

type Given = Pick<State, 'settings' | 'savedSearches' | 'accounts' | 'projects' | 'projectSecrets'>

/** What another Berth can import, as the text of a file. `at`: epoch milliseconds. */
export function exportText(state: Given, at: number): string {
  const accounts = Object.values(state.accounts).filter(({ demo }) => !demo)
  const file: ExportFile = {
    format: 'berth-export',
    version: 1,
    at: new Date(at).toISOString(),
    settings: travellingSettings(state.settings),
    searches: Object.values(state.savedSearches).map(({ name, query }) => ({ name, query })),
    accounts: accounts.map(({ name, baseUrl, userId }) => ({ name, baseUrl, userId })),
    projects: Object.values(state.projects).map(({ folder }) => folder),
    secrets: [...state.projectSecrets],
  }
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/** The file, checked by the shapes of what Berth stores. Throws `bad_export`. */
export function readExport(text: string): ExportFile {
  if (text.length > longestExport) throw badExport('it’s larger than any export')
  let given: unknown
  try {
    given = JSON.parse(withoutByteOrderMark(text))
  } catch {
    throw badExport(text.trimStart().startsWith('{') ? 'it’s damaged or cut off' : 'it isn’t JSON')
  }
  if (!v.is(AnyExport, given)) throw badExport('this is no export of Berth')
  if (given.version > 1)
    throw badExport('a newer Berth wrote it', 'Update Berth on this computer, then import it again.')
  const read = v.safeParse(ExportFile, given)
  if (!read.success) {
    const [issue] = read.issues
    const isMissing = issue.received === 'undefined'
    throw badExport(`${v.getDotPath(issue) ?? 'it'}${isMissing ? ' is missing' : `: ${issue.message}`}`)
  }
  const accounts = read.output.accounts.map(account => ({ ...account, baseUrl: checkedUrl(account.baseUrl) }))
  return { ...read.output, accounts }
}

function checkedUrl(text: string): string {
  try {
    return parseBaseUrl(text)
  } catch {
    throw badExport('accounts: an address is not allowed')
  }
}

/** What the import of a file would change. */
export function importPlan(
  { at, settings, searches, accounts, projects, secrets }: ExportFile,
  state: Given,
): ImportPlan {
  const here = travellingSettings(state.settings)
  const known = new Set(Object.values(state.savedSearches).map(({ name }) => name))
  const names = [...new Set(searches.map(({ name }) => name))]
  const folders = new Set(Object.values(state.projects).map(({ folder }) => folder))
  // A partial setting has no undefined once it was read.
  const after = settingsAfter(state.settings, settings as SettingsChange)
  return {
    at,
    settings: !isDeepStrictEqual(travellingSettings(after), here),
    lessSafe: lessSafe(state.settings, after),
    searches: {
      added: names.filter(name => !known.has(name)),
      replaced: names.filter(name => known.has(name)),
    },
    accounts: accounts
      .filter(account => !isHere(account, state))
      .map(({ name, baseUrl }) => ({ name, baseUrl })),
    folders: projects.filter(folder => !folders.has(folder)),
    secrets: secrets.filter(secret => !state.projectSecrets.includes(secret)),
  }
}

/** Whether the same user's account at the same address is connected; without a user, one of the same name. */
export function isHere(
  { baseUrl, userId, name }: ExportFile['accounts'][number],
  { accounts }: Pick<State, 'accounts'>,
): boolean {
  return Object.values(accounts).some(
    here =>
      here.baseUrl === baseUrl &&
      (userId === undefined || here.userId === undefined ? here.name === name : here.userId === userId),
  )
}

function badExport(why: string, advice = 'Choose a file that Export wrote.'): BerthError {
  return new BerthError({
    code: 'bad_export',
    message: `The file can’t be imported: ${why}.`,
    advice,
    field: 'text',
  })
}
