//! Aborts. With the option `say` it says why before, as the panic hook of the SDK does.

use hostile::{Level, log};

hostile::hostile!("panic", |object, options| {
    if options.contains("say") {
        log(Level::Error, "panicked: the widget is on fire");
    }
    panic!("nobody reads this")
});
