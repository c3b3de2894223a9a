import type { Limit } from '#shared/automation/limit.ts'
import { reasonSentence, sentence, watchdogReason } from '#shared/automation/limit-words.ts'
import type { WatchdogEnding } from '#shared/automation/watchdog.ts'
import { atMoment } from '#shared/format/time.ts'
import type { Problem } from '#shared/problem.ts'
import type { Untold } from './step.ts'

/** Title and body of an alert about a watchdog, by the name of its instance. */
interface Words {
  title: string
  body: string
}

/** Its action; `seems` if only the effect was seen, `limit` if it is known for which one. */
export function actedWords(
  name: string,
  { action, why }: WatchdogEnding,
  { seems = false, limit }: { seems?: boolean; limit?: Pick<Limit, 'when'> | undefined },
): Words {
  const did = action === 'stop' ? 'stopped' : 'destroyed'
  const doubt = seems ? 'probably ' : ''
  const body = limit ? reasonSentence(limit.when) : sentence(watchdogReason(why))
  return { title: `${name} was ${doubt}${did} by its watchdog`, body }
}

/** It goes by idle time, and cannot read the GPU load. */
export function blindWords(name: string): Words {
  return {
    title: `The watchdog of ${name} can’t see its load`,
    body: 'nvidia-smi reports no load, so idle time doesn’t count. Set a time as well.',
  }
}

/** It can't be installed, seen, or told of a change. `why`: the reason that keeps one from working there at all. */
export function untoldWords(name: string, untold: Untold, now: number, why?: string): Words {
  const awake = 'your limit acts only while this computer is awake and Berth runs.'
  if (untold.kind === 'absent')
    return {
      title: `There’s no watchdog on ${name}`,
      body: why
        ? `${why} So ${awake}`
        : `Berth can’t reach it over SSH to install one, and does so as soon as that works. Until then ${awake}`,
    }
  if (untold.kind === 'unseen')
    return {
      title: `It isn’t known whether the watchdog of ${name} runs`,
      body: `It came with the rental, and Berth can’t reach it over SSH to see that. If it doesn’t, ${awake}`,
    }
  const soon =
    'Berth can’t reach it over SSH to tell it of the change. It’s told as soon as that works again.'
  const ends = `${untold.action === 'stop' ? 'stops' : 'destroys'} it`
  const moment = atMoment(untold.at, now)
  return untold.kind === 'late'
    ? {
        title: `The watchdog of ${name} ${ends} only ${moment}`,
        body: `${soon} Until then your limit acts earlier only while this computer is awake and Berth runs.`,
      }
    : { title: `The watchdog of ${name} still ${ends} ${moment}`, body: soon }
}

/** It disappeared. */
export function goneWords(name: string): Words {
  return {
    title: `The watchdog of ${name} is gone`,
    body: 'Something on the instance removed it, so it can’t stop the instance anymore. Install it again.',
  }
}

/** Another Berth's is there in its place. */
export function othersWords(name: string): Words {
  return {
    title: `Another Berth’s watchdog is on ${name}`,
    body: 'Your limits of this instance only act while this computer is awake, until you take that watchdog over.',
  }
}

/** One can't be installed in the place of another Berth's; `request`: what that is to do, as words. */
export function othersWatchdog(name: string, request: string): Problem {
  return {
    code: 'others_watchdog',
    message: `${name} has a watchdog of another Berth: ${request}`,
    advice: 'Take it over on the instance’s Limits tab, or set the limit without a watchdog.',
  }
}

export function notRunning(name: string): Problem {
  return {
    code: 'not_running',
    message: `${name} isn’t running, so Berth can’t reach into it.`,
    advice: 'Start it, or wait until it is running.',
  }
}
