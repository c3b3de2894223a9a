import { emptySpec, type SpecFields } from './specForm.ts'

/** Unsaved input by project, which survives a look at the price. */
const drafts = new Map<string, SpecFields>()

export function draftOfProject(project: string): SpecFields {
  return drafts.get(project) ?? emptySpec
}

export function keepDraft(project: string, fields: SpecFields): void {
  drafts.set(project, fields)
}

export function dropDraft(project: string): void {
  drafts.delete(project)
}
