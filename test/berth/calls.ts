/** Calls of a service and of its control plane, without Berth. They throw unless the answer has a status of success. */
export interface Calls {
  /** Calls the simulator's control plane. */
  control<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T>
  /** Calls the service's own interface, with the account's key. */
  api<T>(method: string, path: string, body?: unknown): Promise<T>
}

export function callsOf(baseUrl: string, apiKey: string): Calls {
  async function call<T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<T> {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return {
    control: (method, path, body) => call(method, path, body, {}),
    api: (method, path, body) => call(method, path, body, { authorization: `Bearer ${apiKey}` }),
  }
}
