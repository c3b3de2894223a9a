import * as v from 'valibot'
import { RentalStops } from '../../automation/guard-kinds.ts'
import { JobId, ProjectId, type ProjectPlan } from '../../project/project.ts'
import { ProjectSpec, SecretName } from '../../project/spec.ts'
import { account, command } from '../command.ts'

const onProject = { project: ProjectId }
const onJob = { account, job: JobId }
/** What is run in the place of the folder's file: what a form says, or what an earlier run was of, and its stops. */
const instead = { draft: v.optional(ProjectSpec), job: v.optional(JobId) }

/** Folders of this machine, and what is run from them. The page names no path. */
export const projectCommands = {
  /** The system's dialog: the id of the project, undefined where the user chose nothing. Throws `no_dialog` in a browser. */
  addProject: command({}).answers<string | undefined>(),
  /** Reads its file again. */
  readProject: command(onProject).answers<void>(),
  /** The folder stays as it is. */
  removeProject: command(onProject).answers<void>(),
  /** Saves what a form says as the folder's `berth.yaml`. Throws `spec_exists` where it has one. */
  writeSpec: command({ ...onProject, spec: ProjectSpec }).answers<void>(),
  /** Throws `no_such_project`, `no_such_folder`, `no_spec` or `bad_spec`. */
  planProject: command({ account, ...onProject, ...instead }).answers<ProjectPlan>(),
  /**
   * Answers the job's id once it is on disk. `content` is what the plan told: throws `spec_changed` where the file says
   * something else by now, and `project_busy` while another job of it goes on.
   */
  runProject: command({
    account,
    ...onProject,
    ...instead,
    content: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'not what a plan told')),
    stops: RentalStops,
    /** Micro-dollars per hour of the machine that the plan told: another may be a tenth dearer, where the file has no limit. */
    price: v.optional(v.pipe(v.number(), v.minValue(0))),
    /** Files that look like secrets and are sent all the same. */
    secretFiles: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(1000)),
  }).answers<string>(),
  /** The text that was agreed to for it. */
  readJob: command(onJob).answers<{ text: string }>(),
  /** Brings nothing home; what was rented is destroyed. */
  cancelJob: command(onJob).answers<void>(),
  /** Ends its command; what follows its end follows. */
  endJob: command(onJob).answers<void>(),
  /** Goes on from the step that failed. */
  retryJob: command(onJob).answers<void>(),
  /** Takes one that is over off the list. Its instance, where one is left, stays. */
  dismissJob: command(onJob).answers<void>(),
  /** A value of the user's that projects name; empty deletes it. */
  saveSecret: command({
    name: SecretName,
    value: v.pipe(v.string(), v.maxLength(32_768, 'at most 32,768 characters')),
  }).answers<void>(),
}
