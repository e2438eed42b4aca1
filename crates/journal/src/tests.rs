mod basics;
mod damage;
mod faults;
mod recovery;
mod support;
mod waiting;
