// Set by build.mjs.
declare const WAITROOM_URL: string;
declare const ROOM: string;
