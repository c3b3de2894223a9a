import * as v from 'valibot'
import { RentalLimits } from '#shared/automation/limit.ts'
import {
  PlacedRunRequest,
  RunAction,
  RunId,
  type RunMatch,
  type RunPage,
  RunPlace,
  RunProgram,
} from '#shared/automation/run.ts'
import { SweepId } from '#shared/automation/sweep.ts'
import { given } from '#shared/fields.ts'
import { InstanceId, OfferId } from '#shared/ids.ts'
import { ChoiceId } from '#shared/instance/files.ts'
import { Use } from '#shared/project/borrowed.ts'
import { ProjectId, type ProjectPlan } from '#shared/project/project.ts'
import { Keeping, ProjectSpec, SecretName, SpecChange } from '#shared/project/spec.ts'
import { account, command } from './command.ts'

/** SHA-256 of a file's text, in hex: of a plan, or of a project in State. */
const SpecContent = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'not a value of a plan'))
const onProject = { project: ProjectId }
/**
 * Runs this instead of the folder's file: the draft of a form, or the file and stops of an earlier run. `change`
 * overrides both.
 */
const instead = { draft: v.optional(ProjectSpec), run: v.optional(RunId), change: v.optional(SpecChange) }

/** Projects. No argument is a path on this machine. */
export const projectCommands = {
  /** Shows the system's dialog; answers the project's id, if one was chosen. Throws `no_dialog` in a browser. */
  addProject: command({}).answers<string | undefined>(),
  /**
   * Creates an example in `berth-example`, in the user's home folder, unless that exists, and makes the folder a project;
   * answers its id.
   */
  addExample: command({}).answers<string>(),
  /** Reads its file again. */
  readProject: command(onProject).answers<void>(),
  /** The folder is not changed. */
  removeProject: command(onProject).answers<void>(),
  /**
   * Saves a form as the folder's `berth.yaml`: as a new one, which throws `spec_exists` if there is one, or into the one
   * with the content `replaces`, of which everything else is kept. Throws `spec_changed` if that has other content by
   * now, and `spec_fixed` if only a person can change it.
   */
  writeSpec: command({ ...onProject, spec: ProjectSpec, replaces: v.optional(SpecContent) }).answers<void>(),
  /**
   * `offer`: the one to plan with. Throws `no_such_project`, `no_such_folder`, `no_spec` or `bad_spec`, and
   * `offer_unfit` if that offer is gone or doesn't match the project.
   */
  planProject: command({
    account,
    ...onProject,
    ...instead,
    offer: v.optional(OfferId),
  }).answers<ProjectPlan>(),
  /**
   * Answers the run's id, or a sweep's, once it is on disk. `content` is from the plan. Throws `spec_changed` if the file has changed
   * since, and `project_busy` while another of its runs is in progress.
   */
  runProject: command({
    account,
    ...onProject,
    ...instead,
    /** The offer to try first, of those in the plan; the best one if absent. */
    offer: v.optional(OfferId),
    content: SpecContent,
    limits: RentalLimits,
    /** How long its machine is kept if it fails; by the file if absent. */
    keeping: v.optional(Keeping),
    /** Micro-dollars per hour from the plan: another machine may cost a tenth more, unless the file has a limit. */
    price: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
    /** Micro-dollars from the plan: the highest cost, and its part for the disk of a failed run's machine. */
    most: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
    keptCost: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
    /** Micro-dollars from the plan for a new volume, which are part of the highest cost. */
    volumeCost: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
    /** Of that for the disks of machines that it leaves. */
    leftCost: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
    /** What the project may use of the user's from now on, of the plan's `borrowed`. Throws `not_allowed` without one. */
    allow: v.optional(v.pipe(v.array(Use), v.maxLength(100))),
    /** Files that look like secrets and are sent nevertheless. */
    secretFiles: v.pipe(v.array(v.pipe(v.string(), v.maxLength(4096))), v.maxLength(1000)),
  }).answers<string>(),
  /** The text of the `berth.yaml` that the user agreed to for a run. */
  readRunSpec: command({ account, run: RunId }).answers<{ text: string }>(),
  /** A secret that projects can use by its name; an empty value deletes it. */
  saveSecret: command({
    name: SecretName,
    /** The one it's entered for, which may use it. */
    project: v.optional(ProjectId),
    value: v.pipe(v.string(), v.maxLength(32_768, 'at most 32,768 characters')),
  }).answers<void>(),
}

const onSweep = { account, sweep: SweepId }

/** Sweeps: the runs of a project with several settings, and machines that wait for the next run. */
export const sweepCommands = {
  /** Gives up its runs in progress, destroys their machines, and starts no other. */
  stopSweep: command(onSweep).answers<void>(),
  /** Starts the runs that have not ended, with fresh limits. Throws `sweep_going` or `project_busy`. */
  continueSweep: command(onSweep).answers<void>(),
  /** Runs those again that failed. Throws the same. */
  retrySweep: command(onSweep).answers<void>(),
  /** Removes one that has ended, with its runs. Throws `still_running`. */
  dismissSweep: command(onSweep).answers<void>(),
  /** Ends a machine that waits. */
  endWaiting: command({ account, instance: InstanceId }).answers<void>(),
}

const onRun = { account, run: RunId }
/** The program that printed it; the command if absent. */
const onOutput = { ...onRun, of: v.optional(RunProgram) }

/** Runs, of commands and of projects, which outlive every connection. Their progress is in State. */
export const runCommands = {
  /** Answers its id once it is on disk, before it begins. Throws `not_running` or `no_such_rental`. */
  startRun: command({ account, request: PlacedRunRequest }).answers<string>(),
  /** Asks its command to end; a run that has not begun never begins. */
  endRun: command(onRun).answers<void>(),
  /**
   * Changes the action on the instance afterwards, also in its watchdog's order. Throws `too_late` once the service
   * was asked for the earlier action.
   */
  changeRun: command({ ...onRun, afterwards: RunAction }).answers<void>(),
  /** Downloads nothing more of a project's run, and destroys its machine. */
  cancelRun: command(onRun).answers<void>(),
  /** Ends its command, once that had its time before a stop, and begins it on another machine. Throws `not_movable`. */
  moveRun: command(onRun).answers<void>(),
  /** Starts the machine of a project's failed run, downloads its results again and stops it. */
  fetchRun: command(onRun).answers<void>(),
  /**
   * Repeats the step that failed, or downloads again, into `into` if chosen; then continues as usual. Throws
   * `no_such_instance` where its machine is gone.
   */
  retryRun: command({ ...onRun, into: v.optional(ChoiceId) }).answers<void>(),
  /** Ends the download: the instance is left as it is. */
  giveUpFetch: command(onRun).answers<void>(),
  /** Removes an ended run with its stored output, and its folder on the instance if that can be reached. */
  dismissRun: command(onRun).answers<void>(),
  /** The end of its stored output, plain as in a page, and all later output. */
  followRun: command(onOutput).answers<{ stream: number; from: number }>(),
  readRun: command({ ...onOutput, place: RunPlace }).answers<RunPage>(),
  /**
   * Lines of the stored output that contain a text, in any case, up to the byte `before` if given: the last 500, and
   * the total number.
   */
  searchRun: command({
    ...onOutput,
    text: given('what to look for', 256),
    before: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  }).answers<{ matches: readonly RunMatch[]; total: number }>(),
  /** Berth's own folder for downloads, as people write it. */
  downloadsFolder: command({}).answers<string>(),
}
