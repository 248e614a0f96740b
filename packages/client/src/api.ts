// Made by `make api-types` from the OpenAPI document; do not edit.
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Jwks
         * @description Return the public keys of passes, and the `iss` that they must have.
         */
        get: operations["getPassKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description 200 as long as the process answers at all, with what it knows about Redis or Valkey.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Numbers for Prometheus
         * @description What this server does and the state of its rooms, in the text format of Prometheus.
         *
         *     OpenMetrics on request. Open to everybody who reaches the port, so block it from outside at your
         *     proxy; it holds names of rooms and numbers, no tickets.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Should visitors be sent here?
         * @description 200 when visitors may come; 503 while starting or draining, never because of the backend.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Audit
         * @description Return who changed what, newest first; of one room, a page may be short, and more follow.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Events
         * @description Follow what happens in rooms; `Last-Event-ID` continues where an earlier stream ended.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find
         * @description Find one person in all rooms, here or gone: by ticket, id, short code or account.
         *
         *     It changes nothing. It is a POST because accounts must not stand in addresses.
         */
        post: operations["findPerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Keys
         * @description Return all API keys, without their secrets.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create Key
         * @description Make an API key; this answer is the only place where it is shown.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Key
         * @description Revoke an API key; every server refuses it within two seconds.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Rooms
         * @description Return rooms by name, with policy and numbers.
         */
        get: operations["listRooms"];
        put?: never;
        /**
         * Create Room
         * @description Make a room, from a preset or the defaults, with changes.
         */
        post: operations["createRoom"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Room
         * @description Return a room; its ETag can be sent as If-Match with a change.
         */
        get: operations["getRoom"];
        put?: never;
        post?: never;
        /**
         * Drop Room
         * @description Remove a room with its policy and everybody in it.
         */
        delete: operations["dropRoom"];
        options?: never;
        head?: never;
        /**
         * Change Room
         * @description Change fields of the policy (the mode is one), at once; 409 if the version is stale.
         */
        patch: operations["changeRoom"];
        trace?: never;
    };
    "/v1/admin/rooms/{room}/admit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Admit
         * @description Call the first people of the line by hand, as far as limits allow.
         */
        post: operations["admitTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call
         * @description Call one ticket by its id or short code, wherever it stands.
         */
        post: operations["callTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear
         * @description Empty a room and refuse all its tickets from now on; the policy stays.
         */
        post: operations["clearRoom"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Codes
         * @description Return the batches of entry codes of a room: made, used, revoked.
         */
        get: operations["listCodes"];
        put?: never;
        /**
         * Create Codes
         * @description Make a batch of entry codes; this answer is the only place where they are shown.
         */
        post: operations["createCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/codes/{batch}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Codes
         * @description Revoke a batch of entry codes: nobody joins with one any more; places are kept.
         */
        delete: operations["revokeCodes"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History
         * @description Return a room's past, for the last hour or between two moments.
         */
        get: operations["getHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/kick": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Kick
         * @description Remove named tickets, present or not, or waiting ones by age; sessions are revoked.
         */
        post: operations["kickTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add Note
         * @description Put a note on the timeline of a room; it is an entry of the audit log.
         */
        post: operations["addNote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/people/{ticket_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Person
         * @description Return one person by ticket id, with what happened to them.
         */
        get: operations["getPerson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/reinstate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reinstate
         * @description Give a place back to somebody who was dropped, left, was kicked or did not come.
         */
        post: operations["reinstateTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Series
         * @description Return samples of the last minutes, oldest first.
         */
        get: operations["getSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stats
         * @description Return a room at a glance, and how long a newcomer would wait.
         */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tickets
         * @description Return a page of tickets: waiting ones in order, others by their deadline.
         *
         *     With `short_code`, return everybody who has it instead, in any state. Before the opening of a
         *     draw, waiting tickets are sorted by id and have no place, for any role.
         */
        get: operations["listTickets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rooms/{room}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Change
         * @description Undo the last change of the policy; 409 if it is no longer the last one.
         */
        post: operations["undoChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Webhooks
         * @description Return all webhooks, without their secrets, and how their deliveries go.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create Webhook
         * @description Make a webhook; this answer is the only place where its secret is shown.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete Webhook
         * @description Remove a webhook and the messages that wait for it.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change Webhook
         * @description Switch a webhook off or on; what happens while it is off is reported only as a gap.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/v1/admin/webhooks/{webhook_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate Webhook
         * @description Give a webhook a new secret; for a day messages are also signed with the old one.
         */
        post: operations["rotateWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send Test
         * @description Send a message of the type `webhook.test` now, and return the result.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check Pass
         * @description Check whether a pass is valid now: for gates and nginx's `auth_request`.
         *
         *     The pass comes as `Authorization: Bearer`, or in the cookie of the room. With a claim of the
         *     site in `Waitroom-Claim` it must be of that account.
         */
        get: operations["checkPass"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passes/announce": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Announce
         * @description Announce the passes in use after a loss of state, so that their places are not given twice.
         *
         *     Passes that are forged, expired or finished are ignored. While a room does not hold admission
         *     after a loss, nothing changes in it: the answer only says how many are inside.
         */
        post: operations["announcePasses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passes/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish
         * @description End the session of a pass; its place goes to the next person at once.
         */
        post: operations["finishPass"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/passes/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew
         * @description Extend the session of a pass; the answer has the new pass.
         *
         *     After a loss of state this vouches for the session too, as long as admission holds.
         */
        post: operations["renewPass"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/redeem": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeem
         * @description Turn a one-time code into the pass of its session; once, and only while that is inside.
         */
        post: operations["redeemCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Room View
         * @description Show a room to anybody: is it open, how many wait, how long would it take.
         */
        get: operations["viewRoom"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join
         * @description Take a place, or keep the one you have.
         *
         *     A browser gets its ticket as a cookie too.
         */
        post: operations["joinRoom"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status
         * @description Return where a ticket is, and note that its holder is still there.
         */
        get: operations["pollTicket"];
        put?: never;
        post?: never;
        /**
         * Leave
         * @description Give up a place, a turn or a session.
         */
        delete: operations["leaveRoom"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/defer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Defer
         * @description Let some people go first; the answer has a new ticket.
         */
        post: operations["deferTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/enter": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enter
         * @description Go inside; the answer has the pass. A repeated request gets the same session.
         */
        post: operations["enterRoom"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ticket Events
         * @description Follow a ticket live: each event is the whole state, so a reconnect misses nothing.
         */
        get: operations["followTicket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish
         * @description End a session; its place goes to the next person at once.
         */
        post: operations["finishTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/handoff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hand Off
         * @description Make a one-time code that takes a session to a site on another host, within a minute.
         */
        post: operations["createHandoff"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe
         * @description Tell this browser when the turn of its ticket is near and when it comes, by Web Push.
         *
         *     A ticket has one subscription: the latest.
         */
        post: operations["subscribePush"];
        /**
         * Unsubscribe
         * @description Forget the subscription of a ticket.
         */
        delete: operations["unsubscribePush"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rooms/{room}/tickets/{ticket}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew
         * @description Extend a session, where the room's policy has `renewable`.
         */
        post: operations["renewTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Stores
         * @description Return all stores with their settings.
         */
        get: operations["listStores"];
        put?: never;
        /**
         * Create Store
         * @description Make a store; without `types` it has one line, `dine-in`.
         */
        post: operations["createStore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Store View
         * @description Show a store to anybody: is it open, how many wait in each line, how long it would take.
         */
        get: operations["getStore"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change Store
         * @description Open, pause or close the store with a reason, and set its limits.
         *
         *     Title, time zone, how long phone numbers are kept, webhooks and new lines need an admin's key.
         */
        patch: operations["changeStore"];
        trace?: never;
    };
    "/v1/stores/{store}/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Hosts
         * @description Return the host keys of a store, without their secrets.
         */
        get: operations["listHosts"];
        put?: never;
        /**
         * Create Host
         * @description Make a host key; this answer is the only place where it is shown.
         */
        post: operations["createHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/hosts/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke Host
         * @description Revoke a host key; every server refuses it within two seconds, and soon ends its streams.
         */
        delete: operations["revokeHost"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Line
         * @description Return who is in line now, in order, or with `day` or `status` any parties of the store.
         *
         *     Phone numbers are masked.
         */
        get: operations["getLine"];
        put?: never;
        /**
         * Walk In
         * @description Add a party that stands at the door or calls; by default also to a paused or full line.
         */
        post: operations["addWalkIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call Party
         * @description Call this party, wherever it stands.
         */
        post: operations["callParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Party
         * @description Take a party out of the line because its guests say so.
         */
        post: operations["cancelParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/defer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Defer Party
         * @description Let N other parties go first, as the party's guests ask.
         */
        post: operations["deferParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase Party
         * @description Erase name, phone number and note for ever; a place in the line stays.
         */
        post: operations["eraseParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History
         * @description Return what happened to a party, and who did it, oldest first.
         */
        get: operations["getPartyHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/no-show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * No Show Party
         * @description Note that a called party did not come.
         */
        post: operations["noShowParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/phone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Phone
         * @description Return the whole phone number; the party's history says who looked at it.
         */
        get: operations["getPartyPhone"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Party
         * @description Give a party that is gone its old place back.
         */
        post: operations["restoreParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/seat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seat Party
         * @description Seat a party that waits or was called; its wait counts for the estimate.
         */
        post: operations["seatParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/{party}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Party
         * @description Take the last change of its status back: the party stands where it stood.
         */
        post: operations["undoParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/call-next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call Next
         * @description Call the first party of a line, or the first that fits the table; null if there is none.
         *
         *     Two hosts who do it at the same moment call two parties.
         */
        post: operations["callNextParty"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/line/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Line Events
         * @description Follow the line live: each `line` is the whole of it, as `GET …/line` answers it.
         */
        get: operations["followLine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/on-site-code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * On Site Code
         * @description Return the code that shows that a guest is at the store, for a screen of your own.
         */
        get: operations["getOnSiteCode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/parties": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join
         * @description Join a line; the answer has the token, which stands for the place.
         *
         *     The same `Idempotency-Key` gets the same place again, even after a lost answer.
         */
        post: operations["joinStore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/parties/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Place
         * @description Return where a party stands and how long it may take.
         */
        get: operations["getPlace"];
        put?: never;
        post?: never;
        /**
         * Cancel
         * @description Give up the place. A repeated request gets the same answer.
         */
        delete: operations["cancelPlace"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/parties/{token}/defer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Defer
         * @description Let some parties go first, as often as the store allows.
         */
        post: operations["deferPlace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/parties/{token}/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase
         * @description Erase name, phone number and note for ever; a place in the line stays.
         */
        post: operations["erasePlace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stores/{store}/parties/{token}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Place Events
         * @description Follow a place live: each event is the whole state, so a reconnect misses nothing.
         */
        get: operations["followPlace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/waitroom.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Client
         * @description Return the JavaScript client, an ES module for single-page apps.
         */
        get: operations["getClientScript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Act
         * @description What a host saw of the party.
         */
        Act: {
            /**
             * Revision
             * @description Of the party as it was seen; 409 `party_moved` if it is another now.
             */
            revision?: number | null;
        };
        /**
         * Acted
         * @description The party after the action.
         */
        Acted: {
            /** @description Null if nobody (who fits) waits. */
            party: components["schemas"]["PartyBody"] | null;
        };
        /**
         * Admit
         * @description Call the first people of the line.
         */
        Admit: {
            /** Count */
            count: number;
            /**
             * Force
             * @description Even above limits, while paused or on hold.
             * @default false
             */
            force: boolean;
            /**
             * Op Id
             * @description Repeating it does nothing twice.
             */
            op_id?: string | null;
        };
        /**
         * Admitted
         * @description How many were called: fewer than requested if limits leave no room.
         */
        Admitted: {
            /** Called */
            called: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * Alive
         * @description The process answers.
         */
        Alive: {
            /**
             * Backend
             * @description Redis or Valkey, as this process sees it; `unknown` while starting
             * @enum {string}
             */
            backend: "up" | "away" | "unknown";
            /**
             * Status
             * @default ok
             * @constant
             */
            status: "ok";
        };
        /**
         * Announce
         * @description Live passes that a gate has seen.
         */
        Announce: {
            /** Passes */
            passes: string[];
        };
        /**
         * Announced
         * @description How many of them are inside now.
         */
        Announced: {
            /** Inside */
            inside: number;
        };
        /**
         * AuditBody
         * @description A page of the audit log, newest first.
         */
        AuditBody: {
            /** Before */
            before: string | null;
            /** Entries */
            entries: components["schemas"]["AuditLine"][];
        };
        /**
         * AuditLine
         * @description Who did what.
         */
        AuditLine: {
            /** Action */
            action: string;
            /** Address */
            address: string;
            /** At Ms */
            at_ms: number;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
            /** Id */
            id: string;
            /** Key Id */
            key_id: string;
            /** Key Name */
            key_name: string;
            /** Role */
            role: string;
            /** Room */
            room: string | null;
            /**
             * Way
             * @description How they reached us: api, page, cli or config.
             */
            way: string;
        };
        /**
         * Call
         * @description Call one ticket, wherever it stands.
         */
        Call: {
            /**
             * Force
             * @default false
             */
            force: boolean;
            /**
             * Op Id
             * @description Repeating it does nothing twice.
             */
            op_id?: string | null;
            /**
             * Ticket Id
             * @description An id or a short code.
             */
            ticket_id: string;
        };
        /**
         * Called
         * @description Until when a called ticket may enter; null means without limit.
         */
        Called: {
            /** Enter By Ms */
            enter_by_ms: number | null;
            /** Ticket Id */
            ticket_id: string;
        };
        /**
         * CallNext
         * @description Which party is next.
         */
        CallNext: {
            /**
             * Expected
             * @description The party that the host saw as next; 409 if it is another one now.
             */
            expected?: number | null;
            /**
             * Fits
             * @description Only call a party of at most this size.
             */
            fits?: number | null;
            /**
             * Type
             * @example dine-in
             */
            type: string;
        };
        /**
         * ChangeBody
         * @description One line of a party's history.
         */
        ChangeBody: {
            /** Action */
            action: string;
            after: components["schemas"]["Status"];
            /**
             * At
             * @description RFC 3339 in UTC.
             */
            at: string;
            before: components["schemas"]["Status"] | null;
            /**
             * By
             * @description `guest`, or the name of a key.
             */
            by: string;
            /** Detail */
            detail: {
                [key: string]: unknown;
            };
        };
        /**
         * Clear
         * @description Empty a room.
         */
        Clear: {
            /**
             * Confirm
             * @description The room's name: nobody gets their place back.
             */
            confirm: string;
            /**
             * Op Id
             * @description Repeating it does nothing twice.
             */
            op_id?: string | null;
        };
        /**
         * Cleared
         * @description How many people the room held.
         */
        Cleared: {
            /** Cleared */
            cleared: number;
        };
        /**
         * Code
         * @description A one-time code.
         */
        Code: {
            /** Code */
            code: string;
            /** Expires At */
            expires_at: string;
        };
        /**
         * CodeBatchBody
         * @description A batch of entry codes, without the codes.
         */
        CodeBatchBody: {
            /** Batch */
            batch: string;
            /** By */
            by: string;
            /** Count */
            count: number;
            /** Made Ms */
            made_ms: number | null;
            /** Note */
            note: string;
            /** Revoked Ms */
            revoked_ms: number | null;
            /**
             * Used
             * @description Uses that are taken.
             */
            used: number;
            /** Uses */
            uses: number;
        };
        /**
         * CodeBatchesBody
         * @description All batches of a room, oldest first.
         */
        CodeBatchesBody: {
            /** Batches */
            batches: components["schemas"]["CodeBatchBody"][];
        };
        /**
         * CodesMade
         * @description A new batch: its codes are shown only this time.
         */
        CodesMade: {
            /** Batch */
            batch: string;
            /** By */
            by: string;
            /** Codes */
            codes: string[];
            /** Count */
            count: number;
            /** Made Ms */
            made_ms: number | null;
            /** Note */
            note: string;
            /** Revoked Ms */
            revoked_ms: number | null;
            /**
             * Used
             * @description Uses that are taken.
             */
            used: number;
            /** Uses */
            uses: number;
        };
        /**
         * DeferBody
         * @description How far back.
         */
        DeferBody: {
            /** @example 10 */
            places: number;
        };
        /**
         * Eta
         * @description An honest range of the wait, in seconds.
         */
        Eta: {
            high: number;
            likely: number;
            low: number;
        };
        /**
         * FieldChange
         * @description A field before and after.
         */
        FieldChange: {
            /** New */
            new: unknown;
            /** Old */
            old: unknown;
        };
        /**
         * Find
         * @description Whom to look for.
         */
        Find: {
            /**
             * Q
             * @description A short code in any spelling, an id, a whole ticket or an account.
             */
            q: string;
        };
        /**
         * FindingsBody
         * @description All people who were found, waiting ones first.
         */
        FindingsBody: {
            /** Matches */
            matches: components["schemas"]["SightingBody"][];
            /**
             * More
             * @description 50 were found, and there may be others.
             */
            more: boolean;
        };
        /**
         * Gap
         * @description A time of which nothing is known: no server was running to sample the room.
         */
        Gap: {
            /** Since Ms */
            since_ms: number;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * GuestAnswer
         * @description The party after its guest's action.
         */
        GuestAnswer: {
            party: components["schemas"]["GuestParty"];
            /** @description Null while the live line cannot be asked. */
            place: components["schemas"]["PlaceBody"] | null;
        };
        /**
         * GuestParty
         * @description A party as its guests see it.
         */
        GuestParty: {
            /** Defers Left */
            defers_left: number;
            /**
             * Number
             * @description The number of the day: what is called out.
             */
            number: number;
            /**
             * Registered At
             * @description RFC 3339 in UTC.
             */
            registered_at: string;
            /** Size */
            size: number;
            status: components["schemas"]["Status"];
            /**
             * Teams Ahead
             * @description How many waited before it when it registered.
             */
            teams_ahead: number;
            /** Type */
            type: string;
        };
        /**
         * HandOver
         * @description For whom a code is made.
         */
        HandOver: {
            /**
             * Browser
             * @description The mark that the site's gate gave its waiting page.
             */
            browser?: string | null;
        };
        /**
         * History
         * @description What happened to a party, oldest first.
         */
        History: {
            /** Changes */
            changes: components["schemas"]["ChangeBody"][];
        };
        /**
         * HistoryBody
         * @description A room's past as columns of the same length, oldest first.
         *
         *     Numbers are those at the end of a span; counters only go up. A row of nulls marks the beginning
         *     of a gap. The last span may not be over yet.
         */
        HistoryBody: {
            /** Abandoned */
            abandoned: (number | null)[];
            /**
             * At Ms
             * @description When the span begins.
             */
            at_ms: number[];
            /** Called */
            called: (number | null)[];
            /** Called Total */
            called_total: (number | null)[];
            /** Capacity */
            capacity: (number | null)[];
            /** Entered */
            entered: (number | null)[];
            /** Expired */
            expired: (number | null)[];
            /** Finished */
            finished: (number | null)[];
            /** Gaps */
            gaps: components["schemas"]["Gap"][];
            /** Inside */
            inside: (number | null)[];
            /** Joined */
            joined: (number | null)[];
            /** Kicked */
            kicked: (number | null)[];
            /** Left */
            left: (number | null)[];
            limits: components["schemas"]["Limits"];
            /** Mode */
            mode: (components["schemas"]["Mode"] | null)[];
            /**
             * Most Waiting
             * @description The most who waited at the same time in the span.
             */
            most_waiting: (number | null)[];
            /** No Show */
            no_show: (number | null)[];
            /**
             * Per Minute
             * @description The most calls or entries allowed then.
             */
            per_minute: (number | null)[];
            /** Since Ms */
            since_ms: number;
            /**
             * Step
             * @enum {string}
             */
            step: "sample" | "minute" | "ten";
            /** Step Ms */
            step_ms: number;
            /**
             * Told S
             * @description The likely wait that a newcomer was told.
             */
            told_s: (number | null)[];
            /** Until Ms */
            until_ms: number;
            /**
             * Waited S
             * @description How long the last one called from the head had waited; null if nobody was.
             */
            waited_s: (number | null)[];
            /** Waiting */
            waiting: (number | null)[];
        };
        /**
         * HostedLine
         * @description A store's parties, and its lines.
         */
        HostedLine: {
            /**
             * After
             * @description With `?after=` of this the list goes on.
             */
            after?: number | null;
            /** Parties */
            parties: components["schemas"]["PartyBody"][];
            /**
             * Recent
             * @description The last that ended, newest first, to undo them.
             */
            recent: components["schemas"]["PartyBody"][];
            store: components["schemas"]["StoreBody"];
        };
        /**
         * HostKeyBody
         * @description A host key, without its secret.
         */
        HostKeyBody: {
            /**
             * Created At
             * @description RFC 3339 in UTC.
             */
            created_at: string;
            /** Id */
            id: string;
            /** Name */
            name: string;
        };
        /**
         * HostKeyMade
         * @description A new host key.
         */
        HostKeyMade: {
            /**
             * Created At
             * @description RFC 3339 in UTC.
             */
            created_at: string;
            /** Id */
            id: string;
            /**
             * Key
             * @description `wrh_…`; shown only here.
             */
            key: string;
            /** Name */
            name: string;
        };
        /**
         * HostKeysBody
         * @description The host keys of a store.
         */
        HostKeysBody: {
            /** Hosts */
            hosts: components["schemas"]["HostKeyBody"][];
        };
        /**
         * HostPlaces
         * @description How far back, and what a host saw of the party.
         */
        HostPlaces: {
            /**
             * Places
             * @example 2
             */
            places: number;
            /**
             * Revision
             * @description Of the party as it was seen; 409 `party_moved` if it is another now.
             */
            revision?: number | null;
        };
        /** HTTPValidationError */
        HTTPValidationError: {
            /** Detail */
            detail?: components["schemas"]["ValidationError"][];
        };
        /**
         * JoinBody
         * @description Who joins, and how.
         */
        JoinBody: {
            /**
             * @description A gate's word about who this is, at most a minute old.
             * @default null
             */
            claim: string | null;
            /**
             * @description An entry code. Needs an `Idempotency-Key`.
             * @default null
             */
            code: string | null;
            /**
             * @description Go inside in the same request if there is room.
             * @default false
             */
            enter: boolean;
            /**
             * @description The solution of the challenge in a problem `challenge_required`.
             * @default null
             */
            solution: string | null;
            /**
             * @description What the widget of a siteverify service gave.
             * @default null
             */
            token: string | null;
            /**
             * @description Who it is, so that one person has one place. Needs an API key.
             * @default null
             */
            visitor: string | null;
        };
        /**
         * Joined
         * @description A place in the line.
         */
        Joined: {
            party: components["schemas"]["GuestParty"];
            /** @description Null while the live line cannot be asked. */
            place: components["schemas"]["PlaceBody"] | null;
            /**
             * Token
             * @description Opaque; keep it secret, it is the place.
             */
            token: string;
            /**
             * Url
             * @description The guest's own page.
             */
            url: string;
        };
        /**
         * KeyBody
         * @description An API key, without its secret.
         */
        KeyBody: {
            /** Created Ms */
            created_ms: number;
            /** Id */
            id: string;
            /** Name */
            name: string;
            role: components["schemas"]["Role"];
        };
        /**
         * KeyMade
         * @description A new API key: its text is shown only this time.
         */
        KeyMade: {
            /** Created Ms */
            created_ms: number;
            /** Id */
            id: string;
            /** Key */
            key: string;
            /** Name */
            name: string;
            role: components["schemas"]["Role"];
        };
        /**
         * KeysBody
         * @description All stored keys.
         */
        KeysBody: {
            /** Keys */
            keys: components["schemas"]["KeyBody"][];
        };
        /**
         * Kick
         * @description Remove named tickets, or waiting ones by how long they have waited.
         */
        Kick: {
            /**
             * Ban
             * @description Named tickets cannot join again, until kicked without.
             * @default false
             */
            ban: boolean;
            /** Newer Than S */
            newer_than_s?: number | null;
            /** Older Than S */
            older_than_s?: number | null;
            /**
             * Op Id
             * @description Repeating it does nothing twice.
             */
            op_id?: string | null;
            /** Ticket Ids */
            ticket_ids?: string[] | null;
        };
        /**
         * KickedBody
         * @description How many were selected, and how many of them were in the room.
         */
        KickedBody: {
            /** Found */
            found: number;
            /**
             * Kicked
             * @description The others are noted: they come back to no place they had.
             */
            kicked: number;
            /**
             * More
             * @description By age one request removes up to 10,000; repeat it for more.
             */
            more: boolean;
        };
        /**
         * Limits
         * @description What the policy allows now; null is no limit.
         */
        Limits: {
            /** Capacity */
            capacity: number | null;
            /**
             * Per Minute
             * @description Calls or entries.
             */
            per_minute: number | null;
            /** Queue Limit */
            queue_limit: number | null;
        };
        /**
         * LineBody
         * @description One of a store's lines.
         */
        LineBody: {
            /**
             * Accepts
             * @description Whether a join would be taken.
             */
            accepts: boolean;
            /** Called */
            called: number;
            /** Largest Party */
            largest_party: number;
            observed: components["schemas"]["RangeBody"] | null;
            /** Queue Limit */
            queue_limit: number | null;
            /** Title */
            title: string;
            /** Type */
            type: string;
            /**
             * Wait Minutes
             * @description For somebody who joined now.
             */
            wait_minutes: number | null;
            /** Waiting */
            waiting: number;
            /** Why Not */
            why_not: string | null;
        };
        /**
         * Log
         * @description The two streams: what somebody did, and who signed in.
         * @enum {string}
         */
        Log: "actions" | "sign_ins";
        /**
         * Mode
         * @description How a room treats people.
         * @enum {string}
         */
        Mode: "open" | "paused" | "closed" | "ended" | "bypass" | "manual";
        /**
         * NewCodes
         * @description Entry codes to make.
         */
        NewCodes: {
            /** Count */
            count: number;
            /**
             * Note
             * @description Whom they are for.
             * @default
             */
            note: string;
            /**
             * Uses
             * @description How many places each gives.
             * @default 1
             */
            uses: number;
        };
        /**
         * NewHost
         * @description A key to create.
         */
        NewHost: {
            /**
             * Name
             * @description Stands in the history.
             * @example front tablet
             */
            name: string;
        };
        /**
         * NewKey
         * @description An API key to create.
         */
        NewKey: {
            /** Name */
            name: string;
            /** @default viewer */
            role: components["schemas"]["Role"];
        };
        /**
         * NewNote
         * @description A note on the timeline of a room.
         */
        NewNote: {
            /**
             * Text
             * @description One line of up to 500 characters.
             */
            text: string;
        };
        /**
         * NewParty
         * @description Who wants a table.
         */
        NewParty: {
            /**
             * Code
             * @description Of the QR code at the store. Without a good one they are not there yet.
             */
            code?: string | null;
            /** Name */
            name?: string | null;
            /** Note */
            note?: string | null;
            /**
             * Phone
             * @description Only the store's hosts see it, masked.
             */
            phone?: string | null;
            /**
             * Size
             * @description How many people.
             * @example 2
             */
            size: number;
            /**
             * Type
             * @description One of the store's lines.
             * @example dine-in
             */
            type: string;
        };
        /**
         * NewRoom
         * @description A room to create.
         */
        NewRoom: {
            /** Name */
            name: string;
            policy?: components["schemas"]["PolicyChanges"] | null;
            /**
             * Preset
             * @description batch, manual, slots, desk or per-minute
             */
            preset?: string | null;
        };
        /**
         * NewStore
         * @description A store to create.
         */
        NewStore: {
            /**
             * Closes At
             * @example 22:00
             */
            closes_at?: string | null;
            /**
             * Country
             * @description admin; of phone numbers, two letters of ISO 3166
             * @example KR
             */
            country?: string | null;
            /**
             * Id
             * @description Part of addresses.
             * @example noodle-bar
             */
            id: string;
            /**
             * Joins Per Hour
             * @description From one address; null for no limit.
             */
            joins_per_hour?: number | null;
            /**
             * Keep Phones Days
             * @description admin
             */
            keep_phones_days?: number | null;
            /** Max Defers */
            max_defers?: number | null;
            /** Mode */
            mode?: ("open" | "paused" | "closed") | null;
            /** On Site */
            on_site?: ("none" | "poster" | "rotating") | null;
            /** Reason */
            reason?: string | null;
            /** Remote */
            remote?: boolean | null;
            /**
             * Time Zone
             * @description admin
             */
            time_zone?: string | null;
            /** Title */
            title: string;
            /** Types */
            types?: components["schemas"]["TypeChange"][] | null;
            /**
             * Version
             * @description As it was read; 409 if it is another now.
             */
            version?: number | null;
            /**
             * Webhook Secret
             * @description admin; never shown again
             */
            webhook_secret?: string | null;
            /**
             * Webhook Url
             * @description admin
             */
            webhook_url?: string | null;
        };
        /**
         * NewWebhook
         * @description A webhook to create.
         */
        NewWebhook: {
            /**
             * Rooms
             * @description Empty: all of them.
             * @default []
             */
            rooms: string[];
            /**
             * Types
             * @description Empty: all of them.
             * @default []
             */
            types: string[];
            /** Url */
            url: string;
        };
        /**
         * NoteMade
         * @description A note that was written.
         */
        NoteMade: {
            /**
             * Id
             * @description Of its entry in the audit log.
             */
            id: string;
        };
        /**
         * OnSite
         * @description How guests who join by themselves show that they are at the store.
         * @enum {string}
         */
        OnSite: "none" | "poster" | "rotating";
        /**
         * OnSiteCode
         * @description What the QR code at the store carries now.
         */
        OnSiteCode: {
            /**
             * Code
             * @description Null if the store has none.
             */
            code: string | null;
            /**
             * Ends At
             * @description When the code ends; null if it does not.
             */
            ends_at: string | null;
            /**
             * Url
             * @description Where the QR code leads.
             */
            url: string;
        };
        /**
         * PartyBody
         * @description A party as the hosts see it.
         */
        PartyBody: {
            /** Called At */
            called_at: string | null;
            /** Day */
            day: string;
            /** Defers */
            defers: number;
            /** Ended At */
            ended_at: string | null;
            /** Id */
            id: number;
            /** Name */
            name: string | null;
            /** Note */
            note: string | null;
            /** Number */
            number: number;
            /**
             * Phone
             * @description Masked.
             */
            phone: string | null;
            /**
             * Position
             * @description 1 is next; 0 if it does not wait.
             */
            position: number;
            /**
             * Registered At
             * @description RFC 3339 in UTC.
             */
            registered_at: string;
            /** Revision */
            revision: number;
            /** Seated At */
            seated_at: string | null;
            /** Size */
            size: number;
            source: components["schemas"]["Source"];
            status: components["schemas"]["Status"];
            /** Teams Ahead */
            teams_ahead: number;
            /** Type */
            type: string;
            /** Wait Minutes */
            wait_minutes: number | null;
            /**
             * Waited Minutes
             * @description Until now, or until it was seated or gone.
             */
            waited_minutes: number;
        };
        /**
         * PersonBody
         * @description One person, and what happened to them.
         */
        PersonBody: {
            /** Banned */
            banned: boolean;
            /** Id */
            id: string;
            /** Position */
            position: number | null;
            /** @description Why they are gone, as far as it is known. */
            reason: components["schemas"]["Reason"] | null;
            /** Room */
            room: string;
            /** Seen Ms */
            seen_ms: number | null;
            /** Short Code */
            short_code: string;
            /**
             * Since Ms
             * @description Since when they are there, as far as it is known.
             */
            since_ms: number | null;
            state: components["schemas"]["State"];
            /**
             * Steps
             * @description Oldest first, from events and the archive.
             */
            steps: components["schemas"]["StepBody"][];
            /**
             * Steps Since Ms
             * @description Steps from before are not known; null if all of them are.
             */
            steps_since_ms: number | null;
            /** Until Ms */
            until_ms: number | null;
        };
        /**
         * Phone
         * @description A whole phone number.
         */
        Phone: {
            /** Phone */
            phone: string | null;
        };
        /**
         * PlaceBody
         * @description Where a party stands.
         */
        PlaceBody: {
            /** @description What this line was seen to do, if known. */
            observed: components["schemas"]["RangeBody"] | null;
            /**
             * Poll After Ms
             * @description Ask again after so long.
             */
            poll_after_ms: number;
            /**
             * Position
             * @description 1 is next; 0 if they do not wait.
             */
            position: number;
            status: components["schemas"]["Status"];
            /** Store */
            store: string;
            /** Type */
            type: string;
            /**
             * Wait Minutes
             * @description Minutes per team × position.
             */
            wait_minutes: number | null;
            /**
             * Waiting
             * @description How many parties wait in this line.
             */
            waiting: number;
        };
        /**
         * Places
         * @description How far back.
         */
        Places: {
            /**
             * Places
             * @description How many parties go first.
             * @example 2
             */
            places: number;
        };
        /**
         * Policy
         * @description The whole policy of a room; null is no limit.
         */
        Policy: {
            /**
             * Background
             * @description the colour around the card, as #rrggbb
             */
            background: string | null;
            /**
             * Batch
             * @description most people called by `advance` per slot of `every_s`
             */
            batch: number | null;
            /**
             * Before Open
             * @description until then: pass, wait, refuse or draw
             */
            before_open: string;
            /**
             * Capacity
             * @description most people called + inside at any instant
             */
            capacity: number | null;
            /**
             * Challenge
             * @description none, work, siteverify, observe_work, observe_siteverify
             */
            challenge: string;
            /**
             * Colour
             * @description the page's main colour, as #rrggbb
             */
            colour: string | null;
            /**
             * Ended Link
             * @description where people may go when it is over: a URL or a path
             */
            ended_link: string | null;
            /**
             * Ended Picture
             * @description a picture for when it is over, given like `logo`
             */
            ended_picture: string | null;
            /**
             * Ended Text
             * @description a paragraph for when it is over
             */
            ended_text: string | null;
            /**
             * Ends At
             * @description when it is over, as in the mode `ended`
             */
            ends_at: string | null;
            /**
             * Enter Within S
             * @description how long a called ticket keeps its turn
             */
            enter_within_s: number | null;
            /**
             * Eta
             * @description observed, batch, rate or service
             */
            eta: string;
            /**
             * Event Date
             * @description when the event is, in the organiser's words
             */
            event_date: string | null;
            /**
             * Event Place
             * @description where the event is
             */
            event_place: string | null;
            /**
             * Every S
             * @description length of a pace slot
             */
            every_s: number | null;
            /**
             * Font
             * @description a font file, as a path on the same host
             */
            font: string | null;
            /**
             * Footer
             * @description a text below the card: who the organiser is
             */
            footer: string | null;
            /**
             * Go To
             * @description where people go on to once inside: a URL or a path
             */
            go_to: string | null;
            /**
             * Help Link
             * @description where people get help: a URL, a path, mailto: or tel:
             */
            help_link: string | null;
            /**
             * Idle Ttl S
             * @description when an empty room's live keys go
             */
            idle_ttl_s: number | null;
            /**
             * Logo
             * @description a path on the same host, or a data:image/…;base64,… URI
             */
            logo: string | null;
            /**
             * Longest S
             * @description longest session, however often it is extended
             */
            longest_s: number | null;
            /**
             * Max Defers
             * @description how often a ticket may go back some places
             */
            max_defers: number;
            /**
             * Max Entries
             * @description most people going inside in any window of `per_s`
             */
            max_entries: number | null;
            /**
             * Message
             * @description what the organiser says to everybody who waits
             */
            message: string | null;
            /**
             * Mode
             * @description open, paused, closed, ended, bypass or manual
             */
            mode: string;
            /**
             * Needs
             * @description what a newcomer must show: nothing, identity or code
             */
            needs: string;
            /**
             * Once
             * @description whoever has been inside does not come back
             */
            once: boolean;
            /**
             * Opens At
             * @description when the room opens
             */
            opens_at: string | null;
            /**
             * Per S
             * @description the rolling window of `max_entries`
             */
            per_s: number | null;
            /**
             * Picture
             * @description a picture of the event: a path or a data: URI, as `logo`
             */
            picture: string | null;
            /**
             * Presence S
             * @description silence after which a waiting ticket is dropped
             */
            presence_s: number | null;
            /**
             * Queue Limit
             * @description most people waiting; more get `room_full`
             */
            queue_limit: number | null;
            /**
             * Ready
             * @description what to have ready when it is your turn
             */
            ready: string | null;
            /**
             * Recover S
             * @description how long admission holds after a loss or an outage
             */
            recover_s: number;
            /**
             * Renewable
             * @description whether activity extends a session
             */
            renewable: boolean;
            /**
             * Return S
             * @description how long a dropped ticket may come back to its place
             */
            return_s: number | null;
            /**
             * Session S
             * @description length of a session inside
             */
            session_s: number | null;
            /**
             * Texts
             * @description other texts by language, like ko
             */
            texts: {
                [key: string]: {
                    [key: string]: string;
                };
            } | null;
            /**
             * Ticket Ttl S
             * @description life of a ticket
             */
            ticket_ttl_s: number | null;
            /**
             * Time Zone
             * @description zone of the times on the page, like Asia/Seoul
             */
            time_zone: string | null;
            /**
             * Title
             * @description the page's title, instead of the room's name
             */
            title: string | null;
            /**
             * When Away
             * @description while Redis is away: closed, or open to everybody
             */
            when_away: string;
            /**
             * When Unverified
             * @description while siteverify is away: refuse, work or pass
             */
            when_unverified: string;
        };
        /**
         * PolicyChanges
         * @description Fields of a policy to change; null removes a limit.
         */
        PolicyChanges: {
            /**
             * Background
             * @description the colour around the card, as #rrggbb
             */
            background?: string | null;
            /**
             * Batch
             * @description most people called by `advance` per slot of `every_s`
             */
            batch?: number | null;
            /**
             * Before Open
             * @description until then: pass, wait, refuse or draw
             * @enum {string}
             */
            before_open?: "pass" | "wait" | "refuse" | "draw";
            /**
             * Capacity
             * @description most people called + inside at any instant
             */
            capacity?: number | null;
            /**
             * Challenge
             * @description none, work, siteverify, observe_work, observe_siteverify
             * @enum {string}
             */
            challenge?: "none" | "work" | "siteverify" | "observe_work" | "observe_siteverify";
            /**
             * Colour
             * @description the page's main colour, as #rrggbb
             */
            colour?: string | null;
            /**
             * Ended Link
             * @description where people may go when it is over: a URL or a path
             */
            ended_link?: string | null;
            /**
             * Ended Picture
             * @description a picture for when it is over, given like `logo`
             */
            ended_picture?: string | null;
            /**
             * Ended Text
             * @description a paragraph for when it is over
             */
            ended_text?: string | null;
            /**
             * Ends At
             * Format: date-time
             * @description when it is over, as in the mode `ended`
             */
            ends_at?: string | null;
            /**
             * Enter Within S
             * @description how long a called ticket keeps its turn
             */
            enter_within_s?: number | null;
            /**
             * Eta
             * @description observed, batch, rate or service
             * @enum {string}
             */
            eta?: "observed" | "batch" | "rate" | "service";
            /**
             * Event Date
             * @description when the event is, in the organiser's words
             */
            event_date?: string | null;
            /**
             * Event Place
             * @description where the event is
             */
            event_place?: string | null;
            /**
             * Every S
             * @description length of a pace slot
             */
            every_s?: number | null;
            /**
             * Font
             * @description a font file, as a path on the same host
             */
            font?: string | null;
            /**
             * Footer
             * @description a text below the card: who the organiser is
             */
            footer?: string | null;
            /**
             * Go To
             * @description where people go on to once inside: a URL or a path
             */
            go_to?: string | null;
            /**
             * Help Link
             * @description where people get help: a URL, a path, mailto: or tel:
             */
            help_link?: string | null;
            /**
             * Idle Ttl S
             * @description when an empty room's live keys go
             */
            idle_ttl_s?: number | null;
            /**
             * Logo
             * @description a path on the same host, or a data:image/…;base64,… URI
             */
            logo?: string | null;
            /**
             * Longest S
             * @description longest session, however often it is extended
             */
            longest_s?: number | null;
            /**
             * Max Defers
             * @description how often a ticket may go back some places
             */
            max_defers?: number;
            /**
             * Max Entries
             * @description most people going inside in any window of `per_s`
             */
            max_entries?: number | null;
            /**
             * Message
             * @description what the organiser says to everybody who waits
             */
            message?: string | null;
            /**
             * Mode
             * @description open, paused, closed, ended, bypass or manual
             * @enum {string}
             */
            mode?: "open" | "paused" | "closed" | "ended" | "bypass" | "manual";
            /**
             * Needs
             * @description what a newcomer must show: nothing, identity or code
             * @enum {string}
             */
            needs?: "nothing" | "identity" | "code";
            /**
             * Once
             * @description whoever has been inside does not come back
             */
            once?: boolean;
            /**
             * Opens At
             * Format: date-time
             * @description when the room opens
             */
            opens_at?: string | null;
            /**
             * Per S
             * @description the rolling window of `max_entries`
             */
            per_s?: number | null;
            /**
             * Picture
             * @description a picture of the event: a path or a data: URI, as `logo`
             */
            picture?: string | null;
            /**
             * Presence S
             * @description silence after which a waiting ticket is dropped
             */
            presence_s?: number | null;
            /**
             * Queue Limit
             * @description most people waiting; more get `room_full`
             */
            queue_limit?: number | null;
            /**
             * Ready
             * @description what to have ready when it is your turn
             */
            ready?: string | null;
            /**
             * Recover S
             * @description how long admission holds after a loss or an outage
             */
            recover_s?: number;
            /**
             * Renewable
             * @description whether activity extends a session
             */
            renewable?: boolean;
            /**
             * Return S
             * @description how long a dropped ticket may come back to its place
             */
            return_s?: number | null;
            /**
             * Session S
             * @description length of a session inside
             */
            session_s?: number | null;
            /**
             * Texts
             * @description other texts by language, like ko
             */
            texts?: {
                [key: string]: {
                    [key: string]: string;
                };
            } | null;
            /**
             * Ticket Ttl S
             * @description life of a ticket
             */
            ticket_ttl_s?: number | null;
            /**
             * Time Zone
             * @description zone of the times on the page, like Asia/Seoul
             */
            time_zone?: string | null;
            /**
             * Title
             * @description the page's title, instead of the room's name
             */
            title?: string | null;
            /**
             * When Away
             * @description while Redis is away: closed, or open to everybody
             * @enum {string}
             */
            when_away?: "closed" | "open";
            /**
             * When Unverified
             * @description while siteverify is away: refuse, work or pass
             * @enum {string}
             */
            when_unverified?: "refuse" | "work" | "pass";
        };
        /**
         * Problem
         * @description What went wrong (RFC 9457).
         */
        Problem: {
            /**
             * Code
             * @description Stable: programs decide by it.
             * @example room_full
             */
            code: string;
            /** Detail */
            detail: string;
            /**
             * Request Id
             * @description What the log calls this request, and `X-Request-Id` too: the trace id of its `traceparent`, or else one of ours.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            request_id: string;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @example /docs/errors#room_full
             */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * PushKeys
         * @description The keys of a subscription, in base64url.
         */
        PushKeys: {
            /** Auth */
            auth: string;
            /** P256Dh */
            p256dh: string;
        };
        /**
         * RangeBody
         * @description An honest range of the wait, in minutes.
         */
        RangeBody: {
            /** High */
            high: number;
            /** Likely */
            likely: number;
            /** Low */
            low: number;
        };
        /**
         * Ready
         * @description Whether visitors should be sent here, and if not, why.
         */
        Ready: {
            /**
             * Reasons
             * @description `starting` or `draining`; empty when ready
             * @example [
             *       "draining"
             *     ]
             */
            reasons?: string[];
            /**
             * Status
             * @default ready
             * @enum {string}
             */
            status: "ready" | "not_ready";
        };
        /**
         * Reason
         * @description Why a ticket is gone.
         * @enum {string}
         */
        Reason: "finished" | "left" | "kicked" | "expired" | "no_show" | "abandoned" | "passed" | "cleared";
        /**
         * Redeem
         * @description A code to redeem.
         */
        Redeem: {
            /**
             * Browser
             * @description The secret whose mark the code was made for.
             */
            browser?: string | null;
            /** Code */
            code: string;
        };
        /**
         * Reinstate
         * @description Give somebody their place back.
         */
        Reinstate: {
            /**
             * Force
             * @description Somebody unknown too, at the end of the line.
             * @default false
             */
            force: boolean;
            /**
             * Lift Ban
             * @default false
             */
            lift_ban: boolean;
            /**
             * Op Id
             * @description Repeating it does nothing twice.
             */
            op_id?: string | null;
            /**
             * Ticket
             * @description An id, a short code, an account or, best, the whole ticket.
             */
            ticket: string;
        };
        /**
         * ReinstatedBody
         * @description Where the person stands again.
         */
        ReinstatedBody: {
            /** Position */
            position: number;
            /** Short Code */
            short_code: string;
            /** Ticket Id */
            ticket_id: string;
            /** Waiting */
            waiting: number;
        };
        /**
         * Role
         * @description What a key may do; each includes the ones before it.
         * @enum {string}
         */
        Role: "viewer" | "operator" | "admin";
        /**
         * RoomBody
         * @description A room with its policy and its numbers.
         */
        RoomBody: {
            /**
             * Epoch
             * @description When it was made or last cleared, in µs.
             */
            epoch: number;
            /**
             * Message At Ms
             * @description When its message was set, if that is known.
             */
            message_at_ms: number | null;
            /** Name */
            name: string;
            policy: components["schemas"]["Policy"];
            stats: components["schemas"]["StatsBody"];
            /**
             * Version
             * @description Goes up with every change of the policy.
             */
            version: number;
        };
        /**
         * RoomChange
         * @description A change of a policy.
         */
        RoomChange: {
            policy: components["schemas"]["PolicyChanges"];
            /**
             * Version
             * @description Change nothing unless it has this version.
             */
            version?: number | null;
        };
        /**
         * RoomChanged
         * @description A room after a change, and what changed.
         */
        RoomChanged: {
            /** Changed */
            changed: {
                [key: string]: components["schemas"]["FieldChange"];
            };
            /**
             * Epoch
             * @description When it was made or last cleared, in µs.
             */
            epoch: number;
            /**
             * Message At Ms
             * @description When its message was set, if that is known.
             */
            message_at_ms: number | null;
            /** Name */
            name: string;
            policy: components["schemas"]["Policy"];
            stats: components["schemas"]["StatsBody"];
            /**
             * Version
             * @description Goes up with every change of the policy.
             */
            version: number;
        };
        /**
         * RoomProblem
         * @description A room that cannot be shown.
         */
        RoomProblem: {
            /** Code */
            code: string;
            /** Detail */
            detail: string;
            /** Name */
            name: string;
        };
        /**
         * RoomsBody
         * @description A page of rooms, by name.
         */
        RoomsBody: {
            /**
             * After
             * @description The cursor of the next page; null on the last.
             */
            after: string | null;
            /** Problems */
            problems: components["schemas"]["RoomProblem"][];
            /** Rooms */
            rooms: components["schemas"]["RoomBody"][];
        };
        /**
         * RoomUndone
         * @description A room after an undo.
         */
        RoomUndone: {
            /** Changed */
            changed: {
                [key: string]: components["schemas"]["FieldChange"];
            };
            /**
             * Epoch
             * @description When it was made or last cleared, in µs.
             */
            epoch: number;
            /**
             * Message At Ms
             * @description When its message was set, if that is known.
             */
            message_at_ms: number | null;
            /** Name */
            name: string;
            policy: components["schemas"]["Policy"];
            stats: components["schemas"]["StatsBody"];
            /**
             * Undoes
             * @description The id of the change in the audit log.
             */
            undoes: string;
            /**
             * Version
             * @description Goes up with every change of the policy.
             */
            version: number;
        };
        /**
         * RoomView
         * @description A room as anybody may see it.
         */
        RoomView: {
            /** @description Whether a join would be taken. */
            accepts: boolean;
            before_open: string;
            changed_at: string | null;
            /** @description Where people may go then. */
            ended_link: string | null;
            /** @description What to show then; null too if it is a large `data:` URI. */
            ended_picture: string | null;
            /** @description What to say when it is over. */
            ended_text: string | null;
            ends_at: string | null;
            /** @description For somebody who joined now. */
            eta_s: components["schemas"]["Eta"] | null;
            /** @description Who the organiser is. */
            footer: string | null;
            /** @description Where people go on to once inside. */
            go_to: string | null;
            /** @description Where people get help. */
            help_link: string | null;
            /** @description Whether admission holds after a loss of state. */
            holding: boolean;
            /** @description Changes with all of this but numbers and times. */
            mark: number;
            /** @description What the organiser says: plain text. */
            message: string | null;
            /** @description When that was said, if it is known. */
            message_at: string | null;
            /**
             * @description As it is now: `ended` once `ends_at` has come.
             * @enum {string}
             */
            mode: "open" | "paused" | "closed" | "ended" | "bypass" | "manual";
            now: string;
            opens_at: string | null;
            /** @description What to have ready for one's turn. */
            ready: string | null;
            room: string;
            /** @description By language, those of these texts that it has of its own. */
            texts?: {
                [key: string]: {
                    [key: string]: string;
                };
            };
            title: string;
            waiting: number;
        };
        /**
         * SampleBody
         * @description A room at a moment; the counters go up only.
         */
        SampleBody: {
            /** Abandoned */
            abandoned: number;
            /** At Ms */
            at_ms: number;
            /** Called */
            called: number;
            /** Called Total */
            called_total: number;
            /** Entered */
            entered: number;
            /** Expired */
            expired: number;
            /** Finished */
            finished: number;
            /** Inside */
            inside: number;
            /** Joined */
            joined: number;
            /** Kicked */
            kicked: number;
            /** Left */
            left: number;
            /** No Show */
            no_show: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * SeriesBody
         * @description Samples, oldest first.
         */
        SeriesBody: {
            /** Samples */
            samples: components["schemas"]["SampleBody"][];
        };
        /**
         * Session
         * @description A session, with its pass.
         */
        Session: {
            /** Pass */
            pass: string;
            /** Room */
            room: string;
            /** Session Ends At */
            session_ends_at: string | null;
        };
        /**
         * SightingBody
         * @description One ticket in one room.
         */
        SightingBody: {
            /** Banned */
            banned: boolean;
            /** Id */
            id: string;
            /** Position */
            position: number | null;
            /** @description Why they are gone, as far as it is known. */
            reason: components["schemas"]["Reason"] | null;
            /** Room */
            room: string;
            /** Seen Ms */
            seen_ms: number | null;
            /** Short Code */
            short_code: string;
            /**
             * Since Ms
             * @description Since when they are there, as far as it is known.
             */
            since_ms: number | null;
            state: components["schemas"]["State"];
            /** Until Ms */
            until_ms: number | null;
        };
        /**
         * Source
         * @description From where a party joined.
         * @enum {string}
         */
        Source: "on_site" | "remote";
        /**
         * State
         * @description Where a ticket is.
         * @enum {string}
         */
        State: "waiting" | "called" | "inside" | "gone";
        /**
         * StatsBody
         * @description A room at a glance.
         */
        StatsBody: {
            /** Called */
            called: number;
            /**
             * Counters
             * @description Since the room was made.
             */
            counters: {
                [key: string]: number;
            };
            /** Entries In Window */
            entries_in_window: number;
            /** Hold Until Ms */
            hold_until_ms: number | null;
            /** Inside */
            inside: number;
            /**
             * May Return
             * @description Dropped for silence; a poll gives them their place back, past `queue_limit`.
             */
            may_return: number;
            /** Now Ms */
            now_ms: number;
            /** Oldest Wait Ms */
            oldest_wait_ms: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * StatsNow
         * @description A room at a glance, with the wait of a newcomer.
         */
        StatsNow: {
            /** Called */
            called: number;
            /**
             * Counters
             * @description Since the room was made.
             */
            counters: {
                [key: string]: number;
            };
            /** Entries In Window */
            entries_in_window: number;
            eta_s: components["schemas"]["WaitBody"] | null;
            /** Hold Until Ms */
            hold_until_ms: number | null;
            /** Inside */
            inside: number;
            /**
             * May Return
             * @description Dropped for silence; a poll gives them their place back, past `queue_limit`.
             */
            may_return: number;
            /** Now Ms */
            now_ms: number;
            /** Oldest Wait Ms */
            oldest_wait_ms: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * Status
         * @description Where a party is.
         * @enum {string}
         */
        Status: "WAITING" | "CALLED" | "SEATED" | "CANCELLED" | "NO_SHOW";
        /**
         * StepBody
         * @description Something that happened to a person.
         */
        StepBody: {
            /** At Ms */
            at_ms: number;
            /**
             * Kind
             * @description called, entered, ended, reinstated, placed; gap: some may lack.
             */
            kind: string;
            reason: components["schemas"]["Reason"] | null;
        };
        /**
         * StoreBody
         * @description A store as anybody may see it.
         */
        StoreBody: {
            /**
             * Accepts
             * @description Whether any of its lines would take a join.
             */
            accepts: boolean;
            /**
             * Closes At
             * @description Local time: nobody joins whose wait passes it.
             */
            closes_at: string | null;
            /**
             * Country
             * @description Of phone numbers that are typed without a country code.
             */
            country: string;
            /** Lines */
            lines: components["schemas"]["LineBody"][];
            /** Max Defers */
            max_defers: number;
            mode: components["schemas"]["StoreMode"];
            /**
             * Now
             * @description RFC 3339 in UTC.
             */
            now: string;
            /**
             * Reason
             * @description Why it is paused or closed.
             */
            reason: string | null;
            /**
             * Remote
             * @description Whether guests may join from elsewhere.
             */
            remote: boolean;
            /** Store */
            store: string;
            /** Time Zone */
            time_zone: string;
            /** Title */
            title: string;
            /**
             * Version
             * @description Counts changes of the store's settings.
             */
            version: number;
            /** Why Not */
            why_not: string | null;
        };
        /**
         * StoreChange
         * @description What to change; hosts may change all fields except those that say `admin`.
         */
        StoreChange: {
            /**
             * Closes At
             * @example 22:00
             */
            closes_at?: string | null;
            /**
             * Country
             * @description admin; of phone numbers, two letters of ISO 3166
             * @example KR
             */
            country?: string | null;
            /**
             * Joins Per Hour
             * @description From one address; null for no limit.
             */
            joins_per_hour?: number | null;
            /**
             * Keep Phones Days
             * @description admin
             */
            keep_phones_days?: number | null;
            /** Max Defers */
            max_defers?: number | null;
            /** Mode */
            mode?: ("open" | "paused" | "closed") | null;
            /** On Site */
            on_site?: ("none" | "poster" | "rotating") | null;
            /** Reason */
            reason?: string | null;
            /** Remote */
            remote?: boolean | null;
            /**
             * Time Zone
             * @description admin
             */
            time_zone?: string | null;
            /**
             * Title
             * @description admin
             */
            title?: string | null;
            /** Types */
            types?: components["schemas"]["TypeChange"][] | null;
            /**
             * Version
             * @description As it was read; 409 if it is another now.
             */
            version?: number | null;
            /**
             * Webhook Secret
             * @description admin; never shown again
             */
            webhook_secret?: string | null;
            /**
             * Webhook Url
             * @description admin
             */
            webhook_url?: string | null;
        };
        /**
         * StoreMode
         * @description Whether a store takes new parties; those who wait keep their places in any mode.
         * @enum {string}
         */
        StoreMode: "open" | "paused" | "closed";
        /**
         * StoreRecord
         * @description A store with its settings, as hosts and admins see it.
         */
        StoreRecord: {
            /** Closes At */
            closes_at: string | null;
            /** Country */
            country: string;
            /**
             * Created At
             * @description RFC 3339 in UTC.
             */
            created_at: string;
            /** Id */
            id: string;
            /** Joins Per Hour */
            joins_per_hour: number | null;
            /** Keep Phones Days */
            keep_phones_days: number;
            /** Max Defers */
            max_defers: number;
            mode: components["schemas"]["StoreMode"];
            on_site: components["schemas"]["OnSite"];
            /** Reason */
            reason: string | null;
            /** Remote */
            remote: boolean;
            /** Time Zone */
            time_zone: string;
            /** Title */
            title: string;
            /** Types */
            types: components["schemas"]["TypeBody"][];
            /** Version */
            version: number;
            /**
             * Webhook Signed
             * @description Whether there is a secret to sign with.
             */
            webhook_signed: boolean;
            /**
             * Webhook Url
             * @description Null to hosts.
             */
            webhook_url: string | null;
        };
        /**
         * Stores
         * @description All stores.
         */
        Stores: {
            /** Stores */
            stores: components["schemas"]["StoreRecord"][];
        };
        /**
         * Subscribe
         * @description A browser's PushSubscription, as its `toJSON` writes it, and the language of messages.
         */
        Subscribe: {
            /** Endpoint */
            endpoint: string;
            keys: components["schemas"]["PushKeys"];
            /**
             * Lang
             * @default en
             */
            lang: string;
        };
        /**
         * Tested
         * @description The result of a test; an empty `error` means success.
         */
        Tested: {
            /** Error */
            error: string;
        };
        /**
         * Ticket
         * @description A ticket as its holder sees it.
         */
        Ticket: {
            /** @description Of a called ticket: enter before. */
            enter_by?: string | null;
            /**
             * @description Why `eta_s` has moved by more than a quarter lately; null if it has not, or if the room shows no reason.
             * @enum {unknown}
             */
            eta_reason: "slower_admission" | "faster_admission" | "paused" | "many_left" | "restoring" | null;
            eta_s: components["schemas"]["Eta"] | null;
            /** @description Of a ticket inside: the proof. */
            pass?: string;
            /** @description Ask again after so long. */
            poll_after_ms: number;
            /** @description 1 is next; null where it means nothing or is hidden. */
            position: number | null;
            /** @description True after a loss of state, until everybody had time to come back: then `position` and `eta_s` are null. */
            restoring?: boolean;
            room: string;
            /** @description Unless the room that you know has this `mark`, read it again. */
            room_mark?: number;
            /** @description Of a ticket inside. */
            session_ends_at?: string | null;
            /** @description Of the answer to a join: a short code to quote to support, no secret. */
            short_code?: string;
            /** @description True if the backend was slow, and this repeats the last answer. */
            stale?: boolean;
            /** @enum {string} */
            state: "called" | "inside" | "waiting";
            /** @description Opaque; keep it secret, it is the place. */
            ticket: string;
            /** @description How many wait in all. */
            waiting: number;
        };
        /**
         * TicketLine
         * @description A ticket as operators see it.
         */
        TicketLine: {
            /** Id */
            id: string;
            /**
             * Place
             * @description Arrival in µs, unique: the order of the line. Null before a draw is over.
             */
            place: number | null;
            /** Seen Ms */
            seen_ms: number | null;
            /**
             * Short Code
             * @description What its holder can read out: the beginning of the id.
             */
            short_code: string;
            /** Sid */
            sid: number | null;
            state: components["schemas"]["State"];
            /**
             * Until Ms
             * @description Enter-by, or the end of the session.
             */
            until_ms: number | null;
        };
        /**
         * TicketsBody
         * @description A page of tickets.
         */
        TicketsBody: {
            /** After */
            after: string | null;
            /**
             * Ordered
             * @description False before the opening of a draw: by id, one may come twice.
             */
            ordered: boolean;
            /** Tickets */
            tickets: components["schemas"]["TicketLine"][];
        };
        /**
         * TypeBody
         * @description A line's settings.
         */
        TypeBody: {
            /** Largest Party */
            largest_party: number;
            /** Name */
            name: string;
            /** Queue Limit */
            queue_limit: number | null;
            /** Title */
            title: string;
        };
        /**
         * TypeChange
         * @description A line as it should be; fields that are left out stay as they are, or get the default.
         */
        TypeChange: {
            /** Largest Party */
            largest_party?: number | null;
            /**
             * Name
             * @example dine-in
             */
            name: string;
            /** Queue Limit */
            queue_limit?: number | null;
            /** Title */
            title?: string | null;
        };
        /**
         * Undo
         * @description Which change to undo; without either, the last one.
         */
        Undo: {
            /**
             * Entry
             * @description Its id in the audit log.
             */
            entry?: string | null;
            /**
             * Version
             * @description The version that the change made.
             */
            version?: number | null;
        };
        /** ValidationError */
        ValidationError: {
            /** Context */
            ctx?: Record<string, never>;
            /** Input */
            input?: unknown;
            /** Location */
            loc: (string | number)[];
            /** Message */
            msg: string;
            /** Error Type */
            type: string;
        };
        /**
         * WaitBody
         * @description An estimate, in seconds.
         */
        WaitBody: {
            /** High */
            high: number;
            /** Likely */
            likely: number;
            /** Low */
            low: number;
        };
        /**
         * WalkedIn
         * @description A party that a host added, with the guest's own page.
         */
        WalkedIn: {
            party: components["schemas"]["PartyBody"];
            /** Token */
            token: string;
            /** Url */
            url: string;
        };
        /**
         * WalkIn
         * @description A party that a host adds.
         */
        WalkIn: {
            /**
             * Force
             * @description Also where the store is paused, full or closing.
             * @default true
             */
            force: boolean;
            /** Name */
            name?: string | null;
            /** Note */
            note?: string | null;
            /** Phone */
            phone?: string | null;
            /**
             * Remote
             * @description Whether they called and are not there yet.
             * @default false
             */
            remote: boolean;
            /**
             * Size
             * @example 2
             */
            size: number;
            /**
             * Type
             * @example dine-in
             */
            type: string;
        };
        /**
         * WebhookBody
         * @description A webhook without its secret, and how its deliveries go.
         */
        WebhookBody: {
            /** Created Ms */
            created_ms: number;
            /** Delivered */
            delivered: number;
            /** Dropped */
            dropped: number;
            /**
             * Enabled
             * @description False: switched off, nothing is sent.
             */
            enabled: boolean;
            /** Error */
            error: string;
            /** Error Ms */
            error_ms: number;
            /** Id */
            id: string;
            /**
             * Late
             * @description Entries that wait, while it fails.
             */
            late: number;
            /** Ok Ms */
            ok_ms: number;
            /**
             * Oldest Ms
             * @description The age of the oldest that waits.
             */
            oldest_ms: number;
            /** Rooms */
            rooms: string[];
            /**
             * Skipped
             * @description Not sent, because it was switched off.
             */
            skipped: number;
            /**
             * Switched Ms
             * @description When it was last switched off or on; 0: never.
             */
            switched_ms: number;
            /** Types */
            types: string[];
            /** Url */
            url: string;
        };
        /**
         * WebhookChange
         * @description What can be changed in a webhook.
         */
        WebhookChange: {
            /**
             * Enabled
             * @description Whether it is switched on.
             */
            enabled: boolean;
        };
        /**
         * WebhookMade
         * @description A new webhook, or one with a new secret: the secret is shown only this time.
         */
        WebhookMade: {
            /** Created Ms */
            created_ms: number;
            /** Delivered */
            delivered: number;
            /** Dropped */
            dropped: number;
            /**
             * Enabled
             * @description False: switched off, nothing is sent.
             */
            enabled: boolean;
            /** Error */
            error: string;
            /** Error Ms */
            error_ms: number;
            /** Id */
            id: string;
            /**
             * Late
             * @description Entries that wait, while it fails.
             */
            late: number;
            /** Ok Ms */
            ok_ms: number;
            /**
             * Oldest Ms
             * @description The age of the oldest that waits.
             */
            oldest_ms: number;
            /** Rooms */
            rooms: string[];
            /** Secret */
            secret: string;
            /**
             * Skipped
             * @description Not sent, because it was switched off.
             */
            skipped: number;
            /**
             * Switched Ms
             * @description When it was last switched off or on; 0: never.
             */
            switched_ms: number;
            /** Types */
            types: string[];
            /** Url */
            url: string;
        };
        /**
         * WebhooksBody
         * @description All webhooks.
         */
        WebhooksBody: {
            /** Webhooks */
            webhooks: components["schemas"]["WebhookBody"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getPassKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alive"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": unknown;
                    "text/plain": unknown;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                before?: string | null;
                limit?: number;
                /** @description What was done, or who signed in. */
                log?: components["schemas"]["Log"];
                room?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description Rooms, split by commas. */
                room?: string;
                /** @description Types, split by commas. */
                types?: string;
            };
            header?: {
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events, each named by its type; and `reconnect` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    findPerson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Find"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindingsBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeysBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKey"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRooms: {
        parameters: {
            query?: {
                after?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomsBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createRoom: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRoom"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    dropRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeRoom: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the room as it was read. */
                "if-match"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoomChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomChanged"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    admitTickets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Admit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Admitted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    callTickets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Call"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Called"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    clearRoom: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Clear"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cleared"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listCodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodeBatchesBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createCodes: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCodes"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodesMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeCodes: {
        parameters: {
            query?: {
                /** @description Also if the room has forgotten it. */
                force?: boolean;
            };
            header?: never;
            path: {
                batch: string;
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CodeBatchBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHistory: {
        parameters: {
            query?: {
                /** @description Unix time in ms. */
                since_ms?: number | null;
                /** @description Samples of 5 s for two hours, minutes for 48 hours, tens for 30 days. */
                step?: ("sample" | "minute" | "ten") | null;
                /** @description Unix time in ms. */
                until_ms?: number | null;
            };
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    kickTickets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Kick"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KickedBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addNote: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNote"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoteMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPerson: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                ticket_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PersonBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reinstateTickets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the request with it does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reinstate"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReinstatedBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSeries: {
        parameters: {
            query?: {
                minutes?: number;
            };
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsNow"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTickets: {
        parameters: {
            query?: {
                after?: string | null;
                limit?: number;
                /** @description A short code. */
                short_code?: string | null;
                /** @description Arrived from, in ms. */
                since?: number | null;
                state?: "waiting" | "called" | "inside";
                /** @description Arrived to, in ms. */
                until?: number | null;
            };
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicketsBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undoChange: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Undo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomUndone"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhooksBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tested"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    checkPass: {
        parameters: {
            query?: {
                /** @description The room; none = any. */
                room?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    announcePasses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Announce"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Announced"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    finishPass: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewPass: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeemCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Redeem"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    viewRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoomView"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    joinRoom: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating a request with the same key answers the first one's place. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The room. */
                room: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JoinBody"];
            };
        };
        responses: {
            /** @description A place already held */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pollTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    leaveRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deferTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating a request with the same key answers the first one's place. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeferBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    enterRoom: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events: `ticket`, `room`, `gone`, `away`, `reconnect` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    finishTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createHandoff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["HandOver"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Code"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    subscribePush: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Subscribe"];
            };
        };
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unsubscribePush: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    renewTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The room. */
                room: string;
                /** @description The ticket, or `me` to take it from the cookie or `Authorization: Bearer`. */
                ticket: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStores: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stores"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createStore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewStore"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreRecord"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeStore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StoreChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreRecord"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listHosts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostKeysBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewHost"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostKeyMade"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: string;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLine: {
        parameters: {
            query?: {
                after?: number | null;
                /** @description Of the store, like 2027-01-31. */
                day?: string | null;
                limit?: number;
                /** @description Any number of them; none = who is in line now. */
                status?: components["schemas"]["Status"][] | null;
                type?: string | null;
            };
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostedLine"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addWalkIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WalkIn"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WalkedIn"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    callParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deferParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HostPlaces"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    eraseParty: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPartyHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    noShowParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPartyPhone: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Phone"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    restoreParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    seatParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    undoParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The party. */
                party: number;
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Act"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    callNextParty: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallNext"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acted"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followLine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events: `line`, `gone`, `away`, `reconnect` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOnSiteCode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OnSiteCode"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    joinStore: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The store. */
                store: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewParty"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Joined"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPlace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
                /** @description What the guest got when they joined. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlaceBody"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelPlace: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The store. */
                store: string;
                /** @description What the guest got when they joined. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestAnswer"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deferPlace: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeating the call with it answers the same and does nothing twice. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The store. */
                store: string;
                /** @description What the guest got when they joined. */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Places"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestAnswer"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    erasePlace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
                /** @description What the guest got when they joined. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestAnswer"];
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followPlace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The store. */
                store: string;
                /** @description What the guest got when they joined. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-Sent Events: `place`, `store`, `gone`, `away`, `reconnect` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClientScript: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": string;
                };
            };
            /** @description Not changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description A problem: decide by its `code`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
