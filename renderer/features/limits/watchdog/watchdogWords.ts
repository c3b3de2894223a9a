import type { WatchdogReason, WatchdogRequest, WatchdogView } from '#contract/automation/watchdog.ts'
import { duration, exactTime } from '#contract/format/time.ts'

/** What it will do and when, as one sentence. `now` in epoch seconds of the account's time. */
export function requestWords({ action, at, idle, lease }: WatchdogRequest, now: number): string {
  const reasons = [
    ...(at === undefined
      ? []
      : [
          at > now
            ? `at ${exactTime(at)} (in ${duration(at - now)})`
            : `at ${exactTime(at)}, which has passed`,
        ]),
    ...(idle ? [`after ${duration(idle.seconds)} with every GPU below ${idle.below} %`] : []),
    ...(lease === undefined ? [] : [`once Berth was away for ${duration(lease)}`]),
  ]
  const verb = action === 'stop' ? 'Stops' : 'Destroys'
  if (reasons.length === 0) return 'Waits for runs that say what happens at their end.'
  return `${verb} this instance ${reasons.join(', or ')}.`
}

export const watchdogStepWords: Record<WatchdogView['step'], string> = {
  putting: 'Being put there',
  watching: 'Watching',
  removing: 'Being removed',
  lost: 'Gone from the instance',
}

export const reasonWords: Record<WatchdogReason, string> = {
  time: 'its time had come',
  idle: 'it was idle',
  lease: 'Berth was away',
  run: 'a run had ended',
}

/** What it told when it was last read, in short lines. */
export function seenWords({ seen, request }: WatchdogView): string[] {
  if (!seen) return []
  const { load, blind, idleFor, leasedFor, why, tries, comesBack, key } = seen
  return [
    ...(load === undefined ? [] : [`GPU load ${load} %`]),
    ...(blind ? ['cannot read the GPU load: idle time does not count'] : []),
    ...(idleFor === undefined || !request.idle
      ? []
      : [`idle for ${duration(idleFor)} of ${duration(request.idle.seconds)}`]),
    ...(leasedFor === undefined ? [] : [`lease renewed ${duration(leasedFor)} before`]),
    ...(why === undefined
      ? []
      : [`acting, since ${reasonWords[why]}${tries ? `; tried ${tries} times` : ''}`]),
    comesBack
      ? 'comes back after a restart'
      : 'after a restart of the container Berth puts it back, once it gets in',
    key === 'container' ? 'uses the container’s own key' : 'uses the instance’s own key, kept in its folder',
  ]
}
