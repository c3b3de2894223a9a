import { type Fields, isObject } from '../fields.ts'
import { forbidden } from '../http/access.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { readEventType } from '../world/notifications/event-type.ts'
import type { Preferences } from '../world/notifications/preferences.ts'

const path = '/users/:user/notification-prefs/'

/** Section 4.1: notification preferences. Reading them is beyond the interface. */
export const notificationRoutes: Routes = {
  [`GET ${path}`]: { permission: 'user_read', answer: read },
  [`PUT ${path}`]: {
    permission: 'user_write',
    answer: request => {
      checkUser(request)
      request.world.preferences.replace(readPreferences(request.body()))
      return read(request)
    },
  },
}

function read(request: ApiRequest) {
  checkUser(request)
  return { success: true, notification_preferences: request.world.preferences.all() }
}

/** Throws 403 `forbidden` for the preferences of another user. */
function checkUser({ world, id }: ApiRequest): void {
  if (id('user') !== world.account.id) throw forbidden('These preferences belong to someone else.')
}

/** Both channels are required for every event. Throws 400 `invalid_args`. */
function readPreferences(body: Fields): Preferences {
  const preferences: Preferences = {}
  for (const [audience, events] of Object.entries(body.object('notification_preferences'))) {
    if (!isObject(events)) throw body.refuse(`notification_preferences: ${audience} must be an object.`)
    preferences[audience] = Object.fromEntries(
      Object.entries(events).map(([name, channels]) => {
        const type = `${audience}:${name}`
        if (!readEventType(type)) throw body.refuse(`${type} has not the form of an event type.`)
        if (!isObject(channels)) throw body.refuse(`notification_preferences: ${type} must be an object.`)
        const stray = Object.keys(channels).find(channel => channel !== 'email' && channel !== 'webhooks')
        if (stray !== undefined) throw body.refuse(`There is no channel ${stray}.`)
        const fields = body.with(channels)
        return [name, { email: fields.boolean('email'), webhooks: fields.boolean('webhooks') }]
      }),
    )
  }
  return preferences
}
