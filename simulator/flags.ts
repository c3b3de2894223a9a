import { parseArgs } from 'node:util'
import { type Profile, ProfileError, readProfile } from './deployment.ts'
import type { SimulatorOptions } from './simulator.ts'
import { FLAKY } from './world/instances/plan.ts'

/** An unknown flag, or one with an invalid value; the message names it and the values that it takes. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
}

/** Reads the command line of the simulator. Throws FlagError. */
export function readFlags(words: string[]): SimulatorOptions {
  const flags = parse(words)
  return {
    port: number('port', flags.port, 0, integer(0, 65_535)),
    seed: number('seed', flags.seed, 7, integer(0, Number.MAX_SAFE_INTEGER)),
    speed: number('speed', flags.speed, 60, speed),
    offers: number('offers', flags.offers, 500, integer(1, 100_000)),
    limits: !flags['no-limits'],
    calm: flags.calm === true,
    ...(flags.deployment === undefined ? {} : { deployment: deployment(flags.deployment) }),
    flaky: number('flaky', flags.flaky, FLAKY, share),
  }
}

function parse(words: string[]) {
  try {
    return parseArgs({
      args: words,
      options: {
        port: { type: 'string' },
        seed: { type: 'string' },
        speed: { type: 'string' },
        offers: { type: 'string' },
        'no-limits': { type: 'boolean' },
        calm: { type: 'boolean' },
        flaky: { type: 'string' },
        deployment: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error))
  }
}

function deployment(text: string): Profile {
  try {
    return readProfile(text)
  } catch (error) {
    if (error instanceof ProfileError) throw new FlagError(`--deployment: ${error.message}`)
    throw error
  }
}

/** A number in a range, described by `takes`; `otherwise` without the flag. Throws FlagError. */
function number(
  name: string,
  text: string | undefined,
  otherwise: number,
  { takes, form, fits }: { takes: string; form: RegExp; fits: (value: number) => boolean },
): number {
  if (text === undefined) return otherwise
  if (!form.test(text) || !fits(Number(text))) throw new FlagError(`--${name} takes ${takes}, not "${text}".`)
  return Number(text)
}

const decimal = /^\d+(\.\d+)?$/

function integer(low: number, high: number) {
  const fits = (value: number) => value >= low && value <= high
  return { takes: `an integer from ${low} to ${high}`, form: /^\d+$/, fits }
}

const speed = {
  takes: 'a number above 0 and at most 100000',
  form: decimal,
  fits: (value: number) => value > 0 && value <= 100_000,
}

const share = { takes: 'a share from 0 to 1', form: decimal, fits: (value: number) => value <= 1 }
