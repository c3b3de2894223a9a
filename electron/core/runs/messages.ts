import { machineLimit, machineStopped, stoppedByUser } from '#shared/automation/run.ts'
import { money, rate } from '#shared/format/money.ts'
import { named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { duration } from '#shared/format/time.ts'
import type { AccountId } from '#shared/ids.ts'
import { harmless } from '#shared/instance/file-names.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { Problem } from '#shared/problem.ts'
import { exitCodeWords, isKilled } from '#shared/project/retry.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { ProjectRun, Run } from './model.ts'

/** A run that has moved may rent no other machine. Micro-dollars: what it has cost, and what it may. */
export function usedUp(cost: Micros, most: Micros): Problem {
  return {
    code: 'most_reached',
    message:
      cost >= most
        ? 'It has cost all that it may.'
        : `It has cost ${money(cost)} of the ${money(most)} that it may, and too little is left for another machine.`,
    advice: 'Run it again with a higher limit.',
  }
}

export const noMachineRented = {
  code: 'not_rented',
  message: 'No machine was rented.',
  advice: 'Resume to search again.',
}

/** The code of a rental of which the user has to say which instance it is. */
export const unclearCode = 'rental_unclear'

export function unclearRental(instances: readonly number[]): Problem {
  return {
    code: unclearCode,
    message: `The service didn’t say which new instance is its machine: ${named(instances.map(id => `#${id}`))}.`,
    advice: 'Choose it in Instances, which destroys it, then run it again.',
  }
}

export function rentalFailed(why: string | undefined): Problem {
  const message = 'The rental it was waiting for failed.'
  return { code: 'rental_failed', message: why === undefined ? message : `${message} ${why}` }
}

export const instanceGone = { code: 'no_such_instance', message: 'Its instance is no longer on the account.' }

export const machineGone = {
  code: instanceGone.code,
  message: 'Its machine is no longer on the account.',
  advice: 'Run it again to rent another.',
}

export const machineDestroyed = { ...machineGone, message: 'You destroyed its machine.' }

/** Why a run ends whose machine was stopped, or is being stopped, before its command had ended. */
export function stoppedMachine(
  { project }: ProjectRun,
  { limit, isStoppedByUser = false }: { limit?: string | undefined; isStoppedByUser?: boolean | undefined },
): Problem {
  const isUsers = limit === undefined && isStoppedByUser
  const who = isUsers
    ? 'You stopped its machine'
    : limit
      ? 'A limit stopped its machine'
      : 'Its machine was stopped'
  return {
    code: isUsers ? stoppedByUser : limit === undefined ? machineStopped : machineLimit,
    message: `${who} before the run finished${limit === undefined ? '' : `: ${limit}`}.`,
    advice: `Its files are still there. Resume to start it again${
      project.limits.length > 0 ? ', with its limits reset' : ''
    }.`,
  }
}

export const machineExited = {
  code: 'ended',
  message: 'Its machine exited before the run finished: it was stopped, or its container crashed.',
  advice: 'Resume to start it again. Or destroy it and run it again.',
}

export const machineCrashed = {
  code: 'crashed',
  message: 'Its machine has crashed.',
  advice: 'Check its files, or destroy it and run it again.',
}

/** Why a run fails whose command has ended, and whose results are still on its machine. */
export function resultsThere(problem: Problem): Problem {
  return {
    ...problem,
    message: `${problem.message} The command had ended by then, and its newest results are only there.`,
  }
}

/** `cheapest`: per hour, of an offer that only its price keeps out. */
export function nowhereToMove(name: string, cheapest: Micros | undefined): Problem {
  const most = cheapest === undefined ? '' : ` The cheapest one above it costs ${rate(cheapest)}.`
  return {
    code: 'no_offers',
    message: `No machine within its price is free now, so ${name} goes on where it is.${most}`,
    advice: 'Try again later.',
  }
}

/** Why a run leaves its machine, as Activity says it. */
export function movedWords(machine: InstanceView | undefined): string {
  switch (machine?.state) {
    case undefined:
      return 'Its machine has gone.'
    case 'outbid':
      return 'Its machine was outbid.'
    case 'crashed':
    case 'unstartable':
      return 'Its machine has crashed.'
    case 'offline':
    case 'silent':
      return 'Its machine’s host was offline for a quarter of an hour.'
    case 'running':
      return 'You asked for that, or its machine couldn’t be entered.'
    default:
      return 'Its machine couldn’t be used.'
  }
}

export function noOfferInTime(seconds: number): Problem {
  return {
    code: 'no_offers',
    message: `No offer fit within its price in ${duration(seconds)}.`,
    advice: 'Resume to wait again, or run it with a higher price.',
  }
}

export function commandFailed({ project, lastLine, retried }: Run, code: number): Problem {
  const why = `${exitCodeWords(code)}${missingWords(code, lastLine)}`
  const tried =
    retried && retried.nextAt === undefined ? `, after ${counted(retried.times, 'retry', 'retries')}` : ''
  const advice = isKilled(code)
    ? 'If its memory was full, use less, or a machine with more of it.'
    : 'Its last lines say why.'
  return {
    code: 'command_failed',
    message: `The command ended with ${why}${tried}.`,
    advice: `${advice}${project ? ' Its machine is stopped with all its files.' : ''}`,
  }
}

/** Why no machine was found, with the failure of the command that was to be tried there again. */
export function besideCommand(problem: Problem, { retried }: Pick<Run, 'retried'>): Problem {
  if (!retried) return problem
  return {
    ...problem,
    message: `${problem.message} Before, the command ended with ${exitCodeWords(retried.code)}.`,
  }
}

export function setupFailed(code: number, lastLine: string): Problem {
  return {
    code: 'setup_failed',
    message: `The set-up ended with exit code ${code}${missingWords(code, lastLine)}.`,
    advice: 'Its last lines say why. Fix it, then resume.',
  }
}

/** `: mytrain is missing there`, where a shell could not find or run a command. */
function missingWords(code: number, lastLine: string): string {
  const name = code === 126 || code === 127 ? missingCommand(lastLine) : undefined
  if (name === undefined) return ''
  return code === 127 ? `: ${name} is missing there` : `: ${name} can’t be run there`
}

const complaints = [
  'command not found',
  'not found',
  'no such file or directory',
  'permission denied',
  'cannot execute',
]

/** The command in a shell's complaint, such as `line 1: mytrain: command not found`. */
export function missingCommand(line: string): string | undefined {
  const parts = line.slice(0, 1000).split(': ')
  const complaint = parts.findIndex(part => complaints.some(start => part.toLowerCase().startsWith(start)))
  const name = parts[complaint - 1]?.trim().slice(0, 100)
  return name ? harmless(name) : undefined
}

export const processGone = {
  code: 'process_gone',
  message: 'Its process disappeared without an exit code, for example because the container restarted.',
  advice: 'Run it again if it didn’t finish.',
}

/** The same, where there was no room for its exit code. */
export const processGoneFull = {
  ...processGone,
  message: 'Its process disappeared without an exit code, and the machine’s disk is full.',
  advice: 'Make room there, or rent a larger disk. Run it again if it didn’t finish.',
}

export const recordGone = {
  code: 'record_gone',
  message: 'The instance has no trace of it, for example because its container was recreated.',
  advice: 'The output so far is kept. Run it again if it didn’t finish.',
}

export const machineNotReached = { code: 'not_running', message: 'Its machine can’t be reached right now.' }

/** `output` is the machine's, whose last line has the reason. */
export function notPrepared(output: string, code: number | undefined): Problem {
  const line = output.trim().split('\n').at(-1)?.replace(/\.$/, '').slice(0, 300) ?? ''
  const unsaid = code === undefined ? 'the connection ended' : `its shell ended with exit code ${code}`
  const isFull = /no space left|quota/i.test(line)
  const missing = code === 126 || code === 127 ? missingCommand(line) : undefined
  return {
    code: isFull ? 'disk_full' : 'not_prepared',
    message:
      missing === undefined
        ? `The folder couldn’t be set up on its machine: ${harmless(line) || unsaid}.`
        : `The folder couldn’t be set up on its machine: ${missing} is missing there.`,
    advice: isFull
      ? 'Free some space there, then resume.'
      : missing === undefined
        ? 'Open a terminal there to find out more.'
        : 'Install it there or use another image, then resume.',
  }
}

/** Where the next machine has no room for a run's results, which are on the one that it left. */
export function fullBesideResults(problem: Problem, left: number): Problem {
  return {
    ...problem,
    message: `${problem.message} Its newest results are on #${left}, which is kept for a while.`,
    advice: `Start #${left} and download them there, then run it again with a larger disk.`,
  }
}

/** `outside`: its addresses, none of which is in the network, unless `taken` is, which is another node's. */
export function noAddress(
  { taken, outside }: { taken?: string | undefined; outside: readonly string[] },
  subnet: string | undefined,
): Problem {
  const code = 'no_address'
  const advice = 'If it does so again, choose another host.'
  if (taken !== undefined)
    return {
      code,
      message: `Its address in the network of the machines, ${taken}, is another node’s, too.`,
      advice,
    }
  if (outside.length > 0) {
    const which = subnet === undefined ? '' : `, ${harmless(subnet)}`
    return {
      code,
      message: `None of its addresses is in the network of the machines${which}: ${named(outside)}.`,
      advice,
    }
  }
  return {
    code,
    message: 'It names no address of its own in the nodes’ network.',
    advice: 'Install iproute2 in the image, or use another one. If it does so again, choose another host.',
  }
}

export const nodeOffline: Problem = {
  code: 'node_offline',
  message: 'Its host is offline, or no longer answers the service.',
  advice: 'Run it again to rent other machines.',
}

export const folderEmptied = (folder: string): Problem => ({
  code: 'no_such_folder',
  message: `The folder ${folder} is empty, and wasn’t when the run began: its disk may not be mounted.`,
  advice: 'Mount it, then resume.',
})

export const inTheWay = (folder: string): Problem => ({
  code: 'in_the_way',
  message: `${folder} can’t be created: a file or a link has its name.`,
  advice: 'Move it away, then resume.',
})

export const notEntered = ({ state }: InstanceView): Problem => ({
  code: 'not_running',
  message: `The instance is ${state}, so Berth can’t connect.`,
  advice: 'The download continues once it runs.',
})

export const projectBusy = {
  code: 'project_busy',
  message: 'This project is already running.',
  advice: 'Wait until it ends, or end it first.',
}

export const notFailed = { code: 'not_failed', message: 'It hasn’t failed.' }

export const severalMachines = {
  code: 'not_failed',
  message: 'It ran on several machines, of which the others are gone.',
  advice: 'Run it again as it was: that rents all of them.',
}

/** Why a machine that waited for another run is ended. `view`: as it is before. */
export function waitedCause(
  { instance, action }: { instance: number; action: 'stop' | 'destroy' },
  view: InstanceView | undefined,
) {
  const isStopped = view !== undefined && hasTrait(view.state, 'over')
  return {
    kind: 'berth' as const,
    text: `${action === 'stop' ? 'Stopped' : 'Destroyed'} #${instance}, which waited for the next run`,
    detail: isStopped ? 'It was stopped already, and its disk would cost for nothing.' : 'No run needed it.',
  }
}

/** The line of Activity once a machine that waited was stopped by its user, or at a cap. */
export function noLongerWaiting(account: AccountId, instance: number) {
  return {
    account,
    instance,
    kind: 'berth' as const,
    text: `#${instance} no longer waits for the next run`,
    detail: 'Its files are kept, and its disk is billed, until you destroy it.',
  }
}

export const machineInUse = { code: 'not_waiting', message: 'A run is using that machine.' }

export function tooLate({ afterwards }: Run) {
  return {
    code: 'too_late',
    message: `Berth is already asking the service to ${afterwards} the instance.`,
    advice: afterwards === 'stop' ? 'Start it again if you want it to run.' : 'That can’t be changed now.',
  }
}

export const commandNotReached = {
  code: 'not_running',
  message: 'Its instance isn’t running, so Berth can’t reach the command.',
}

export const runGoing = {
  code: 'still_running',
  message: 'It’s still running.',
  advice: 'End it first, or wait until it ends.',
}

export const watchdogStale = {
  code: 'watchdog_stale',
  message: 'The watchdog on its instance doesn’t know yet that it should leave it running.',
  advice: 'Berth tries again at every poll. Start the instance if it is stopped, or remove its watchdog.',
}

export const runNotRead = {
  code: 'not_read',
  message: 'Its record on this computer couldn’t be read.',
  advice: 'Its machine is stopped and its files are kept: download what you need, then run it again.',
}
