import type { CliCommand } from './call.ts'

export const mcp: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'Serve the Model Context Protocol over stdio, for an agent within the caps of --as (agent)',
  options: ['account'],
  agent: 'agent',
  async run(call) {
    // It is large, and no other subcommand needs it.
    const { serveAgent } = await import('./mcp-server.ts')
    await serveAgent(call)
    return undefined
  },
}
