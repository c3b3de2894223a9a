import * as v from 'valibot'
import { Stops } from '#contract/automation/limit.ts'
import { RunId } from '#contract/automation/run.ts'
import { OfferId } from '#contract/ids.ts'
import { ProjectId, type ProjectPlan } from '#contract/project/project.ts'
import { Keeping, ProjectSpec, SecretName } from '#contract/project/spec.ts'
import { account, command } from '../command.ts'

const onProject = { project: ProjectId }
/** Runs this instead of the folder's file: the draft of a form, or the file and stops of an earlier run. */
const instead = { draft: v.optional(ProjectSpec), run: v.optional(RunId) }

/** Projects. No argument is a path on this machine. */
export const projectCommands = {
  /** Shows the system's dialog; answers the project's id, if one was chosen. Throws `no_dialog` in a browser. */
  addProject: command({}).answers<string | undefined>(),
  /** Reads its file again. */
  readProject: command(onProject).answers<void>(),
  /** The folder is not changed. */
  removeProject: command(onProject).answers<void>(),
  /** Saves a form as the folder's `berth.yaml`. Throws `spec_exists` if it has one. */
  writeSpec: command({ ...onProject, spec: ProjectSpec }).answers<void>(),
  /**
   * `offer`: the one to plan with. Throws `no_such_project`, `no_such_folder`, `no_spec` or `bad_spec`, and `offer_unfit`
   * where that offer is gone or isn't what the project asks for.
   */
  planProject: command({
    account,
    ...onProject,
    ...instead,
    offer: v.optional(OfferId),
  }).answers<ProjectPlan>(),
  /**
   * Answers the run's id once it is on disk. `content` is from the plan. Throws `spec_changed` if the file has changed
   * since, and `project_busy` while another of its runs is in progress.
   */
  runProject: command({
    account,
    ...onProject,
    ...instead,
    /** The offer to try first, of those in the plan; the best one if absent. */
    offer: v.optional(OfferId),
    content: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'not what a plan told')),
    stops: Stops,
    /** How long its machine is kept if it fails; by the file if absent. */
    keeping: v.optional(Keeping),
    /** Micro-dollars per hour from the plan: another machine may cost a tenth more, unless the file has a limit. */
    price: v.optional(v.pipe(v.number(), v.minValue(0))),
    /** Files that look like secrets and are sent nevertheless. */
    secretFiles: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(1000)),
  }).answers<string>(),
  /** The text of the `berth.yaml` that the user agreed to for a run. */
  readRunSpec: command({ account, run: RunId }).answers<{ text: string }>(),
  /** A secret that projects can use by its name; an empty value deletes it. */
  saveSecret: command({
    name: SecretName,
    value: v.pipe(v.string(), v.maxLength(32_768, 'at most 32,768 characters')),
  }).answers<void>(),
}
