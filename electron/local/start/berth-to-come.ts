import type { PageLink, RunningBerth } from '#core/running.ts'

/** The part of Berth that the page's server and the command's socket use. */
type Asked = Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>

/**
 * A stand-in while Berth starts, for pages and commands that connect early: their requests wait for it, in order. After
 * a failed start their messages get no answer, and requests reject.
 */
export function berthToCome(starting: Promise<Asked>): Asked {
  return {
    connectPage(send) {
      const link = starting.then(berth => berth.connectPage(send))
      let there: PageLink | undefined
      link.then(found => (there = found)).catch(() => undefined)
      return {
        isBusy: () => there?.isBusy() ?? true,
        receive: message => void link.then(there => there.receive(message)).catch(() => undefined),
        drained: () => void link.then(there => there.drained()).catch(() => undefined),
        close: () => void link.then(there => there.close()).catch(() => undefined),
      }
    },
    sshArguments: async on => (await starting).sshArguments(on),
    registerProject: async folder => (await starting).registerProject(folder),
  }
}
