import type { ImportPlan } from '#shared/export.ts'
import { named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { dateAndTime } from '#shared/format/time.ts'
import { harmless } from '#shared/instance/file-names.ts'

/** What an import changes besides accounts, a sentence each: what it replaces, what it adds, and what is left to do by hand. */
export function importWords({
  at,
  settings,
  lessSafe,
  searches,
  accounts,
  folders,
  secrets,
}: ImportPlan): string[] {
  const lines = [`Exported on ${dateAndTime(Date.parse(at) / 1000)}.`]
  if (settings) lines.push('Your settings for display, alerts and searches are replaced.')
  if (lessSafe.length > 0) lines.push('Less safe than now:', ...lessSafe)
  if (searches.replaced.length > 0) lines.push(`Saved searches replaced: ${named(searches.replaced)}.`)
  if (searches.added.length > 0) lines.push(`Saved searches added: ${named(searches.added)}.`)
  if (lines.length === 1 && accounts.length === 0) lines.push('Nothing in it is new here.')
  if (folders.length > 0)
    lines.push(
      `To run your projects here, copy and add their ${counted(folders.length, 'folder')}: ${named(folders.map(harmless))}.`,
    )
  if (secrets.length > 0) lines.push(`Enter these secrets in Projects again: ${named(secrets)}.`)
  lines.push('Limits, runs and watches stay with the other Berth, which goes on acting.')
  return lines
}
